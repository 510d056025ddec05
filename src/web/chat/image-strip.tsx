import { X } from "lucide-react";
import { IconButton } from "../ui/button.tsx";
import type { NewImage } from "./images.ts";
import { formatSize } from "../../model/text.ts";

export function ImageStrip({ images, onRemove }: { images: readonly NewImage[]; onRemove: (id: string) => void }) {
  if (images.length === 0) return null;
  return (
    <ul aria-label="Attached images" className="flex flex-wrap gap-2 px-3 pt-2">
      {images.map(({ id, name, mimeType, data, size }) => (
        <li key={id} className="flex items-center gap-1 rounded-md border border-line bg-sunken pr-0.5">
          <img src={`data:${mimeType};base64,${data}`} alt="" className="size-10 rounded-l-md object-cover" />
          <span className="max-w-32 truncate text-xs" title={name}>
            {name}
          </span>
          <span className="text-xs whitespace-nowrap text-dim">{formatSize(size)}</span>
          <IconButton label={`Remove ${name}`} onClick={() => onRemove(id)}>
            <X size={14} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
