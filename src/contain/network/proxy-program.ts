/** The program of the network proxy: started in its folder, with the digest of this program as its argument. */
import { Proxy } from "./proxy.ts";

process.title = "holdfast-network";
process.on("uncaughtException", (error) => {
  // One connection's failure must not take the network from every session.
  console.error(new Date().toISOString(), error);
});
new Proxy(process.argv[2] ?? "").run();
