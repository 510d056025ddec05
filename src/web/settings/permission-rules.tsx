/** The user's permission rules, to be read; they are changed in the file, where no page can change them. */
import { plainText } from "../shared/ui/plain-text.ts";
import { useAnswer } from "../shared/data/use-query.ts";
import { Answered, Row, Section } from "./section.tsx";

export function PermissionRules() {
  const [asked, again] = useAnswer("permissionRules");
  return (
    <Section
      id="permission-rules"
      title="Permission rules"
      note="Chat agents' permission requests are answered by the first rule that matches. All others wait for you."
    >
      <Answered asked={asked} onAgain={again}>
        {({ file, problem, rules }) => (
          <>
            {problem !== null && (
              <p role="alert" className="rounded-md bg-alert-soft p-3 break-words text-alert">
                No rule holds until this is corrected: {plainText(problem)}
              </p>
            )}
            {problem === null && rules.length === 0 && <p className="text-dim">No rules.</p>}
            <ol className="flex flex-col gap-2">
              {rules.map(({ number, text, line }) => (
                <Row key={number} action={<span className="text-xs text-dim">line {line}</span>}>
                  <p className="font-mono text-xs break-words">
                    {number}. {plainText(text)}
                  </p>
                </Row>
              ))}
            </ol>
            <p className="text-xs break-all text-dim">Edit {file}, under permissions.</p>
          </>
        )}
      </Answered>
    </Section>
  );
}
