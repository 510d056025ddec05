/** Images to attach to a prompt. */
import { formatSize } from "../../model/text.ts";
import { X } from "lucide-react";
import { IconButton } from "../shared/ui/button.tsx";

export interface NewImage {
  id: string;
  name: string;
  mimeType: ImageType;
  size: number;
  /** Base64, as the API expects. */
  data: string;
}

/** Supported by agents and browsers. */
const types = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
type ImageType = (typeof types)[number];
export const acceptedImages = types.join(",");
/** Models refuse larger images. */
export const maxImageBytes = 5_000_000;
export const maxImages = 10;

/** Why a file cannot be attached; null if it can. */
export function imageError(file: Pick<File, "name" | "type" | "size">, already: number): string | null {
  if (!types.includes(file.type as ImageType)) return `${file.name} is not a supported image (PNG, JPEG, GIF, WebP).`;
  if (file.size > maxImageBytes) {
    return `${file.name} is too large (${formatSize(file.size)}). The limit is ${formatSize(maxImageBytes)}.`;
  }
  return already >= maxImages ? `A prompt can have at most ${maxImages} images.` : null;
}

export async function readImage(file: File): Promise<NewImage> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  // In chunks: a call with millions of arguments overflows the stack.
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  const name = file.name === "" ? "image" : file.name;
  return { id: crypto.randomUUID(), name, mimeType: file.type as ImageType, size: file.size, data: btoa(text) };
}

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
          <IconButton label={`Remove ${name}`} onClick={() => onRemove(id)} Sign={X} signSize={14} />
        </li>
      ))}
    </ul>
  );
}
