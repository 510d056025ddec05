import { useState, type ReactNode } from "react";
import { logIn } from "../shared/data/connect.ts";
import { Button } from "../shared/ui/button.tsx";
import { Brand } from "./navigation.tsx";
import { Commands } from "../shared/ui/code-text.tsx";
import { Field, Form, TextInput } from "../shared/ui/field.tsx";

const linkCommand = "`holdfast dashboard`";

/** A page without the dashboard around it. */
function Frame({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto mt-[12vh] flex w-full max-w-md flex-col gap-4 p-4">
      <h1 className="flex items-center gap-2 text-base font-semibold">
        <Brand />
        Holdfast
      </h1>
      {children}
    </main>
  );
}

/** Browsers store no keys for such a page, and anything it sent could be read in transit. */
export function InsecurePage() {
  const port = location.port === "" ? "80" : location.port;
  return (
    <Frame>
      <p role="alert" className="text-danger">
        This browser cannot log in over plain HTTP from another machine: anyone on the network could read the
        connection.
      </p>
      <p>
        <Commands
          text={`Forward the port with SSH and open http://127.0.0.1:${port} here: \`ssh -L ${port}:127.0.0.1:${port} ${location.hostname}\`.`}
        />
      </p>
      <p>
        <Commands text="Or use HTTPS, through a TLS proxy or with the daemon's own certificate: see `holdfast start --help`." />
      </p>
    </Frame>
  );
}

export function LoginPage({ why }: { why: string | null }) {
  const [passphrase, setPassphrase] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    await logIn({ passphrase });
    setBusy(false);
  };
  return (
    <Frame>
      <p role="alert" className={why === null ? "text-dim" : "text-danger"}>
        {why === null ? "This browser is not logged in." : <Commands text={why} />}
      </p>
      <p>
        <Commands
          text={
            why?.includes(linkCommand) === true
              ? "If the daemon has a passphrase, you can enter it here instead."
              : `Run ${linkCommand} for a new login link, or enter the passphrase if the daemon has one.`
          }
        />
      </p>
      <Form className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4" onSubmit={submit}>
        <Field label="Passphrase">
          <TextInput
            type="password"
            autoComplete="current-password"
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
          />
        </Field>
        <Button type="submit" variant="primary" disabled={busy || passphrase === ""}>
          Log in
        </Button>
      </Form>
    </Frame>
  );
}
