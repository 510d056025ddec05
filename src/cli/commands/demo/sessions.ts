/** What `holdfast demo` starts: the bundled agent in both kinds, with first prompts that show something at once. */
import type { SpawnRequest } from "../../../contract/command.ts";
import type { Kind } from "../../../model/session.ts";
import { demoProject } from "./project.ts";

export interface DemoSession {
  kind: Kind;
  title: string;
  prompt: string;
}

/** Each line of a prompt is a step that the demo agent carries out. */
export const demoSessions: readonly DemoSession[] = [
  {
    kind: "terminal",
    title: "Terminal: the agent's own screen, in tmux",
    prompt: [
      "say: Hello. I am the demo agent, in a terminal of my own and a worktree of my own.",
      "slow: 2",
      "say: I keep running when you close this window, stop the daemon, or update it.",
      "say: Type a line to talk to me. `ask: may I?` makes me ask, `slow: 60` keeps me busy.",
    ].join("\n"),
  },
  {
    kind: "chat",
    title: "Chat: structured, with a question for you",
    prompt: [
      "plan: Look around, Write a note, Ask you",
      "think: A short tour: a tool call, a change to a file, and a question.",
      "tool: ls -l",
      "edit: notes.md Written by the demo agent, in a worktree of its own.",
      "say: I have looked around and written `notes.md`; the question below waits for you, also through a restart.",
      "ask: May I finish the tour?",
      "say: Thank you. `/help` lists what else a prompt can ask of me.",
    ].join("\n"),
  },
];

export function demoRequest({ kind, title, prompt }: DemoSession): SpawnRequest {
  return { project: demoProject, agent: "demo", kind, name: title, prompt };
}
