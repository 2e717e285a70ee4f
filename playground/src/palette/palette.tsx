import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import type { AppState } from '../state/app/app-state.ts'
import type { DialogName } from '../state/layout.ts'
import { type Command, commandsOf } from './commands.ts'
import { isComposing } from './composing.ts'

interface PaletteProps {
  appState: AppState
  open: (dialog: DialogName) => void
  onClose: () => void
}

/** Finds commands by a few letters of their name. A combobox with a listbox, as in the ARIA APG. */
export function Palette({ appState, open, onClose }: PaletteProps) {
  const commands = commandsOf(appState, open)
  const query = useSignal('')
  const chosen = useSignal(0)
  const found = useMemo(() => commands.filter((command) => matches(command, query.value)), [query.value])
  const at = Math.min(chosen.value, found.length - 1)

  function run(command: Command | undefined): void {
    if (command === undefined) return
    onClose()
    // Run the command after the focus is restored, so that the command can move it.
    queueMicrotask(command.run)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) chosen.value = (at + by + found.length) % Math.max(1, found.length)
    else if (event.key === 'Enter' && !isComposing(event)) run(found[at])
    else return
    event.preventDefault()
  }

  return (
    <Dialog label="Commands" class="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] && `command-${at}`}
        placeholder="What would you like to do?"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Commands" class="palette-list" tabIndex={-1}>
        {found.length === 0 && <p class="nothing">No matching commands.</p>}
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
          <div
            key={command.id}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class="command"
            ref={index === at ? (element) => element?.scrollIntoView({ block: 'nearest' }) : null}
            onClick={() => run(command)}
          >
            <span class="command-group" data-repeated={command.group === found[index - 1]?.group}>
              {command.group}
            </span>
            <span class="command-name">{command.name}</span>
            {command.keys && <kbd>{command.keys}</kbd>}
          </div>
        ))}
      </div>
    </Dialog>
  )
}

/** Each typed word must occur in the name or the group. */
function matches({ name, group }: Command, query: string): boolean {
  const text = `${group} ${name}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
