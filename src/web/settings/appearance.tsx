import { usePreference, type Preferences } from "../state/preferences.ts";
import { Section } from "./section.tsx";

const themes: { value: Preferences["theme"]; label: string }[] = [
  { value: "system", label: "As the system has it" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function Appearance() {
  const [theme, setTheme] = usePreference("theme");
  return (
    <Section id="appearance" title="Appearance">
      <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
        <legend className="sr-only">Colours</legend>
        {themes.map(({ value, label }) => (
          <label key={value} className="flex items-center gap-2 pointer-coarse:min-h-10">
            <input
              type="radio"
              name="theme"
              className="size-4 accent-accent"
              checked={theme === value}
              onChange={() => setTheme(value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </Section>
  );
}
