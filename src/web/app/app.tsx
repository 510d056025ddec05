/** The frame around every page: login, header, banners, routes, bottom bar. */
import { lazy, Suspense, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";
import { VerbHost } from "../shared/verbs/verbs.tsx";
import { useLive } from "../shared/data/live.ts";
import { setPageTitle } from "../shared/data/notify.ts";
import { BoardLink } from "../shared/ui/button.tsx";
import { lazyView, Spinner } from "../shared/ui/loading.tsx";
import { Toasts } from "../shared/ui/toast.tsx";
import { Board } from "../board/board.tsx";
import { Announcer } from "./announcer.tsx";
import { BottomBar, Header } from "./navigation.tsx";
import { Banners } from "./banners.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { InsecurePage, LoginPage } from "./login-page.tsx";
import { openOverlay, overlays, useShortcuts } from "./shortcuts.ts";
import { useStore } from "zustand";

const Palette = lazy(() => import("./palette.tsx"));
const Help = lazy(() => import("./palette.tsx").then(({ Help: view }) => ({ default: view })));

function Overlays() {
  const open = useStore(overlays, (state) => state.open);
  if (open === null) return null;
  const close = (): void => openOverlay(null);
  return <Suspense>{open === "palette" ? <Palette onClose={close} /> : <Help onClose={close} />}</Suspense>;
}

const SessionPage = lazyView(() => import("./session-page.tsx"));
const NewSession = lazyView(() => import("../new-session/new-session.tsx"));
const Settings = lazyView(() => import("../settings/settings.tsx"));
const TrashPage = lazyView(() => import("../settings/trash-page.tsx"));

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
  useEffect(() => setPageTitle(pageName(location)), [location]);
  // A session has its own controls at the bottom of a phone screen.
  const inSession = location.startsWith("/s/");
  return (
    <>
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-60 focus:m-2 focus:rounded focus:bg-raised focus:p-2"
      >
        Skip to content
      </a>
      {/* A session has its own link back, and a phone has no room for a second header. */}
      <div className={inSession ? "max-md:hidden" : ""}>
        <Header />
      </div>
      <Banners />
      <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 flex-col overflow-y-auto outline-none">
        {/* Navigating away clears an error; the views of a session count as one page. */}
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
                <h1 className="text-base font-semibold">Page not found</h1>
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
