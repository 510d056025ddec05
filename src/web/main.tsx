/** The page's entry: log in, then follow the daemon, and draw what it says. */
import { createRoot } from "react-dom/client";
import { navigate } from "wouter/use-browser-location";
import { warmViews } from "./app/preload.ts";
import { App } from "./app/app.tsx";
import { begin } from "./shared/data/connect.ts";
import { beginCounting, beginNotifying } from "./shared/data/notify.ts";
import "./styles.css";

createRoot(document.getElementById("root")!).render(<App />);
beginCounting();
beginNotifying((session) => navigate(`/s/${session}`));
warmViews();
void begin();
// Only where browsers allow it: on this machine, or over https. Where the daemon goes away meanwhile, the next page asks.
if ("serviceWorker" in navigator) {
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js").catch(() => undefined));
}
