/** The frame round every view: login, header, connection banner, routes. */
import { lazy, Suspense } from "react";
import { Link, Route, Switch } from "wouter";
import { useLive } from "../state/live.ts";
import { Spinner } from "../ui/spinner.tsx";
import { Toasts } from "../ui/toast.tsx";
import { Board } from "../board/board.tsx";
import { VerbHost } from "../session/verbs.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { LoginPage } from "./login-page.tsx";

const SessionPage = lazy(() => import("../session/session-page.tsx"));
const NewSession = lazy(() => import("../new-session/new-session.tsx"));
const Settings = lazy(() => import("../settings/settings.tsx"));

export function App() {
  const login = useLive((state) => state.login);
  if (login.is === "checking") return <Spinner label="Connecting" />;
  if (login.is === "out") return <LoginPage why={login.why} />;
  return (
    <>
      <header className="flex items-center gap-4 border-b border-line bg-panel px-4 py-2">
        <Link href="/" className="font-semibold">
          Holdfast
        </Link>
      </header>
      <ConnectionBanner />
      <main className="flex min-h-0 flex-1 flex-col">
        <Suspense fallback={<Spinner />}>
          <Switch>
            <Route path="/">
              <Board />
            </Route>
            <Route path="/new" component={NewSession} />
            <Route path="/settings" component={Settings} />
            <Route path="/s/:id/:view?">{({ id, view }) => <SessionPage id={id} view={view ?? null} />}</Route>
            <Route>
              <p className="p-6">
                There is nothing at this address. <Link href="/">Go to the board.</Link>
              </p>
            </Route>
          </Switch>
        </Suspense>
      </main>
      <VerbHost />
      <Toasts />
    </>
  );
}
