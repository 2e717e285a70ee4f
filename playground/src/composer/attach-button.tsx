import { useRef } from 'preact/hooks'
import { IconButton } from '../parts/icon-button.tsx'

/** Has a person pick files. */
export function AttachButton({ isDisabled, onPick }: { isDisabled: boolean; onPick: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null)

  function pick(field: HTMLInputElement): void {
    onPick([...(field.files ?? [])])
    // The same file can be picked again.
    field.value = ''
  }

  return (
    <>
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
