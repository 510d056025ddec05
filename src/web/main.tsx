/** The page's entry: log in, then follow the daemon, and draw what it says. */
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { begin } from "./state/begin.ts";
import "./styles.css";

createRoot(document.getElementById("root")!).render(<App />);
void begin();
