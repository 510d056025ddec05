/** The frame round every view: login, header, banners, routes, bottom bar. */
import { useEffect, lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { VerbHost } from "../shared/verbs/verbs.tsx";
import { useLive } from "../shared/data/live.ts";
import { nameThePage } from "../shared/data/notify.ts";
import { BoardLink } from "../shared/ui/button.tsx";
import { later, Spinner } from "../shared/ui/loading.tsx";
import { Toasts } from "../shared/ui/toast.tsx";
import { Board } from "../board/board.tsx";
import { Announcer } from "./announcer.tsx";
import { BottomBar, Header } from "./navigation.tsx";
import { ConnectionBanner, StorageBanner, VersionBanner } from "./banners.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { InsecurePage, LoginPage } from "./login-page.tsx";
import { useShortcuts, openOverlay, overlays } from "./shortcuts.ts";
import { warmSession } from "./preload.ts";
import { useStore } from "zustand";

const Palette = lazy(() => import("./palette.tsx"));
const Help = lazy(() => import("./help.tsx"));

function Overlays() {
  const open = useStore(overlays, (state) => state.open);
  if (open === null) return null;
  const close = (): void => openOverlay(null);
  return <Suspense>{open === "palette" ? <Palette onClose={close} /> : <Help onClose={close} />}</Suspense>;
}

const SessionPage = later(() => {
  warmSession();
  return import("./session-page.tsx");
});
const NewSession = later(() => import("../new-session/new-session.tsx"));
const Settings = later(() => import("../settings/settings.tsx"));
const TrashPage = later(() => import("../settings/trash-page.tsx"));

export function App() {
  const login = useLive((state) => state.login);
  if (login.is === "checking") return <Spinner label="Connecting" />;
  if (login.is === "out") return <LoginPage why={login.why} />;
  if (login.is === "insecure") return <InsecurePage />;
  return <Frame />;
}

function Frame() {
  const [location] = useLocation();
  useShortcuts();
  useEffect(() => nameThePage(pageName(location)), [location]);
  // A session has its own controls where the thumb is.
  const inSession = location.startsWith("/s/");
  return (
    <>
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-60 focus:m-2 focus:rounded focus:bg-raised focus:p-2"
      >
        Skip to the content
      </a>
      {/* A session has its own way back, and on a phone no room for a second header. */}
      <div className={inSession ? "max-md:hidden" : ""}>
        <Header />
      </div>
      <ConnectionBanner />
      <VersionBanner />
      <StorageBanner />
      <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 flex-col overflow-y-auto outline-none">
        {/* Another page is another chance; the views of one session are one page. */}
        <ErrorBoundary key={location.split("/", 3).join("/")}>
          <Switch>
            <Route path="/">
              <Board />
            </Route>
            <Route path="/new" component={NewSession} />
            <Route path="/settings" component={Settings} />
            <Route path="/trash" component={TrashPage} />
            <Route path="/s/:id/:view?">{({ id, view }) => <SessionPage id={id} view={view ?? null} />}</Route>
            <Route>
              <section className="mx-auto flex w-full max-w-2xl flex-col gap-4 p-4 sm:p-6">
                <h1 className="text-base font-semibold">There is nothing at this address</h1>
                <BoardLink />
              </section>
            </Route>
          </Switch>
        </ErrorBoundary>
      </main>
      {!inSession && <BottomBar />}
      <VerbHost />
      <Overlays />
      <Announcer />
      <Toasts />
    </>
  );
}

function pageName(location: string): string | null {
  if (location === "/new") return "New session";
  if (location === "/settings") return "Settings";
  if (location === "/trash") return "Trash";
  return /^\/s\/([^/]+)/.exec(location)?.[1] ?? null;
}
