/**
 * An agent's Markdown, also while it streams: only the growing block is parsed again. HTML stays text, images become
 * links, and links only lead to web and mail addresses.
 */
import { Streamdown, type Components } from "streamdown";
import { memo, type ComponentProps, type ReactNode } from "react";
import { ExternalLink } from "../shared/ui/button.tsx";
import { CopyButton } from "../shared/ui/code-text.tsx";
import { safeAddress, safeText, isPlain } from "./inert.ts";

/** Must be the same object in every render: otherwise everything is parsed again. */
const noPlugins: [] = [];

export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  if (isPlain(text)) {
    return (
      <div className="markdown">
        <Paragraph>{text.trimEnd()}</Paragraph>
      </div>
    );
  }
  return (
    <Streamdown
      mode="streaming"
      parseIncompleteMarkdown={streaming}
      className="markdown"
      components={components}
      rehypePlugins={noPlugins}
      urlTransform={safeAddress}
      controls={false}
      lineNumbers={false}
    >
      {safeText(text)}
    </Streamdown>
  );
});

type With<K extends keyof React.JSX.IntrinsicElements> = ComponentProps<K> & { node?: unknown };

const components: Components = {
  a: ({ href, children }: With<"a">) => <ExternalLink href={href}>{children}</ExternalLink>,
  img: ({ src, alt }: With<"img">) => (
    <ExternalLink href={typeof src === "string" ? src : null}>Image: {alt || "image"}</ExternalLink>
  ),
  pre: ({ children }: With<"pre">) => <>{children}</>,
  code: ({ children, className }: With<"code">) => {
    const text = textIn(children);
    const language = /language-([\w+#.-]+)/.exec(className ?? "")?.[1];
    // Inline code has neither a language nor a line break.
    if (language === undefined && !text.includes("\n")) {
      return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.92em] break-words">{text}</code>;
    }
    return <CodeBlock text={text.replace(/\n$/, "")} language={language ?? ""} />;
  },
  table: ({ children }: With<"table">) => (
    <div className="my-2 overflow-x-auto" tabIndex={0} role="region" aria-label="Table">
      <table className="border-collapse text-[13px]">{children}</table>
    </div>
  ),
  thead: ({ children }: With<"thead">) => <thead>{children}</thead>,
  tbody: ({ children }: With<"tbody">) => <tbody>{children}</tbody>,
  tr: ({ children }: With<"tr">) => <tr>{children}</tr>,
  th: ({ children }: With<"th">) => <th className="border border-line bg-sunken px-2 py-1 text-left">{children}</th>,
  td: ({ children }: With<"td">) => <td className="border border-line px-2 py-1 align-top">{children}</td>,
  // An answer's headings rank below those of the page.
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  p: Paragraph,
  ul: ({ children }: With<"ul">) => <ul className="my-2 list-disc space-y-1 pl-5">{children}</ul>,
  ol: ({ children, start }: With<"ol">) => (
    <ol start={start} className="my-2 list-decimal space-y-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }: With<"li">) => <li className="[&>p]:my-0">{children}</li>,
  blockquote: ({ children }: With<"blockquote">) => (
    <blockquote className="my-2 border-l-2 border-line-strong pl-3 text-dim">{children}</blockquote>
  ),
  hr: () => <hr className="my-3 border-line" />,
  strong: ({ children }: With<"strong">) => <strong className="font-semibold">{children}</strong>,
  sup: ({ children }: With<"sup">) => <sup>{children}</sup>,
  sub: ({ children }: With<"sub">) => <sub>{children}</sub>,
  section: ({ children }: With<"section">) => <section>{children}</section>,
  input: ({ checked }: With<"input">) => <input type="checkbox" checked={checked === true} disabled readOnly />,
};

function Paragraph({ children }: With<"p">) {
  return <p className="my-2 break-words">{children}</p>;
}

function Heading({ children }: With<"h3">) {
  return <h3 className="mt-4 mb-1 text-base font-semibold first:mt-0">{children}</h3>;
}

export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <div className="group relative my-2 overflow-hidden rounded-md border border-line bg-sunken">
      <div className="flex h-7 items-center justify-between pl-3 pr-1 text-xs text-dim pointer-coarse:h-10">
        <span className="font-mono">{language}</span>
        <CopyButton label="Copy code" text={text} />
      </div>
      <pre
        // Focusable, so that the keyboard can scroll it.
        tabIndex={0}
        className="max-h-[60vh] overflow-auto px-3 pb-2 font-mono text-[13px] leading-5 break-normal whitespace-pre"
      >
        <code>{text}</code>
      </pre>
    </div>
  );
}

function textIn(node: ReactNode): string {
  if (typeof node === "string") return node;
  if (typeof node === "number") return String(node);
  return Array.isArray(node) ? node.map(textIn).join("") : "";
}
