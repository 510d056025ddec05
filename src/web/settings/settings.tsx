import { Link } from "wouter";
import type { SettingsJson } from "../../contract/daemon.ts";
import { logOutThisBrowser, pageBuild } from "../shared/data/connect.ts";
import { useMay } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { Agents, AgentProcesses, PermissionRules } from "./agents.tsx";
import { Appearance } from "./appearance.tsx";
import { Devices } from "./devices.tsx";
import { Doctor } from "./doctor.tsx";
import { Notifications } from "./notifications.tsx";
import { Projects, Trackers } from "./projects.tsx";
import { WhenLoaded, Section } from "./section.tsx";

export default function Settings() {
  const [settings, reload] = useQuery("settings");
  const may = useMay("all");
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-4 p-4 pb-10">
      <div className="flex items-center justify-between gap-2">
        <h1 className="text-base font-semibold">Settings</h1>
        <Link href="/trash" className="text-accent underline-offset-2 hover:underline pointer-coarse:py-2.5">
          Trash
        </Link>
      </div>
      {settings.is === "known" && settings.value.readOnly && (
        <p className="rounded-md bg-alert-soft p-3 text-alert">
          This daemon is read-only and refuses every change. Restart it without --read-only to change anything.
        </p>
      )}
      <Notifications />
      <Appearance />
      <WhenLoaded query={settings} onRetry={reload}>
        {() => null}
      </WhenLoaded>
      <Devices />
      {settings.is === "known" && (
        <>
          <fieldset disabled={!may} className="contents">
            <Projects projects={settings.value.projects} onChanged={reload} />
          </fieldset>
          <Agents agents={settings.value.agents} />
        </>
      )}
      <PermissionRules />
      <Trackers />
      <Doctor />
      <fieldset disabled={!may} className="contents">
        <AgentProcesses />
      </fieldset>
      {settings.is === "known" && <About settings={settings.value} />}
    </div>
  );
}

function About({ settings: { version, build, home, configFiles, trashDays } }: { settings: SettingsJson }) {
  const facts: [string, string][] = [
    ["Version", version],
    ["Build", build],
    ["This page", pageBuild === build ? "same build" : pageBuild],
    ["Home", home],
    ["Configuration files", configFiles.length === 0 ? "none" : configFiles.join(", ")],
    ["Trash retention", `${trashDays} days`],
  ];
  return (
    <Section
      id="about"
      title="About"
      action={
        <Button size="small" onClick={() => void logOutThisBrowser()}>
          Log out this browser
        </Button>
      }
    >
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-dim">{name}</dt>
            <dd className="font-mono text-xs leading-5 break-all">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
