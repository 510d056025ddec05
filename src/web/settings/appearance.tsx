import { usePreference, type Preferences } from "../shared/data/preferences.ts";
import { Section } from "./section.tsx";

const themes: { value: Preferences["theme"]; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const enters: { value: Preferences["enter"]; label: string }[] = [
  { value: "auto", label: "Sends, except on touch screens" },
  { value: "sends", label: "Sends" },
  { value: "newline", label: "Inserts a new line" },
];

export function Appearance() {
  const [theme, setTheme] = usePreference("theme");
  const [enter, setEnter] = usePreference("enter");
  return (
    <Section id="appearance" title="Appearance and typing">
      <Choice legend="Theme" name="theme" options={themes} value={theme} onChoose={setTheme} />
      <Choice legend="Enter in a prompt" name="enter" options={enters} value={enter} onChoose={setEnter} />
      <p className="text-xs text-dim">Ctrl+Enter always sends, Shift+Enter always inserts a new line.</p>
    </Section>
  );
}

interface ChoiceProps<T extends string> {
  legend: string;
  name: string;
  options: readonly { value: T; label: string }[];
  value: T;
  onChoose: (value: T) => void;
}

function Choice<T extends string>({ legend, name, options, value: chosen, onChoose }: ChoiceProps<T>) {
  return (
    <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
      <legend className="mb-1 text-xs text-dim">{legend}</legend>
      {options.map(({ value, label }) => (
        <label key={value} className="flex items-center gap-2 pointer-coarse:min-h-10">
          <input
            type="radio"
            name={name}
            className="size-4 accent-accent"
            checked={chosen === value}
            onChange={() => onChoose(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
