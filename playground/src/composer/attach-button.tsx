import { useRef } from 'preact/hooks'
import { IconButton } from '../parts/icon-button.tsx'

/** Only handheld devices have a camera that users point at things. Elsewhere the input would open a file picker. */
const hasCamera = matchMedia('(pointer: coarse)').matches

/** Selects files, or takes a photo. */
export function AttachButton({ isDisabled, onPick }: { isDisabled: boolean; onPick: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const camera = useRef<HTMLInputElement>(null)

  function pick(field: HTMLInputElement): void {
    onPick([...(field.files ?? [])])
    // Allow the same file to be selected again.
    field.value = ''
  }

  return (
    <>
      {hasCamera && <IconButton icon="camera" label="Take a picture" isDisabled={isDisabled} onClick={() => camera.current?.click()} />}
      {hasCamera && (
        <input
          class="visually-hidden"
          type="file"
          accept="image/*"
          capture="environment"
          tabIndex={-1}
          aria-label="Picture to attach"
          ref={camera}
          onChange={(event) => pick(event.currentTarget)}
        />
      )}
      <IconButton icon="clip" label="Attach files" isDisabled={isDisabled} onClick={() => input.current?.click()} />
      <input
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files to attach"
        ref={input}
        onChange={(event) => pick(event.currentTarget)}
      />
    </>
  )
}
