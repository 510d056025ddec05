/** The page's entry: draws the app, connects to the daemon, and preloads the views that are likely next. */
import { createRoot } from "react-dom/client";
import { navigate } from "wouter/use-browser-location";
import { App } from "./app/app.tsx";
import { preloadViews } from "./app/preload.ts";
import { connect } from "./shared/data/connect.ts";
import { startCounting, startNotifying } from "./shared/data/notify.ts";
import "./styles.css";

createRoot(document.getElementById("root")!).render(<App />);
startCounting();
startNotifying((session) => navigate(`/s/${session}`));
preloadViews();
void connect();
// Browsers allow it on this machine and over https. If the daemon is down, the next page load registers it.
if ("serviceWorker" in navigator) {
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js").catch(() => undefined));
}
