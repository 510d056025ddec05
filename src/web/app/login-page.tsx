import { useState } from "react";
import { logIn } from "../state/begin.ts";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";

export function LoginPage({ why }: { why: string | null }) {
  const [passphrase, setPassphrase] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    await logIn({ passphrase });
    setBusy(false);
  };
  return (
    <main className="mx-auto mt-[12vh] flex w-full max-w-md flex-col gap-4 p-4">
      <h1 className="text-xl font-semibold">Holdfast</h1>
      <p role="alert" className={why === null ? "text-dim" : "text-danger"}>
        {why ?? "This browser is not logged in."}
      </p>
      <p>
        Run <code className="rounded bg-sunken px-1 font-mono">holdfast dashboard</code> for a fresh login link, or
        enter the passphrase if the daemon has one.
      </p>
      <form
        className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label="Passphrase">
          {(ids) => (
            <TextInput
              {...ids}
              type="password"
              autoComplete="current-password"
              value={passphrase}
              onChange={(event) => setPassphrase(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" variant="primary" disabled={busy || passphrase === ""}>
          Log in
        </Button>
      </form>
    </main>
  );
}
