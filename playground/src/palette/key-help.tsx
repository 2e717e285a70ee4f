import { Dialog } from '../parts/dialog.tsx'
import { commandKey } from './command-key.ts'

const keyTable: readonly (readonly [keys: string, what: string])[] = [
  [`${commandKey}K`, 'Commands'],
  ['Enter', 'Send; while the agent runs: steer it'],
  ['Alt Enter', 'Send as a follow-up when the run ends'],
  ['Esc', 'Stop the run; close the open dialog'],
  ['M', 'Messages'],
  ['T', 'Trace'],
  ['D', 'Details: the request of the turn'],
  ['J / K', 'Next, previous message'],
  ['[ / ]', 'Previous, next turn'],
  ['/', 'Write'],
  ['/ and @', 'While you write: prompts and resources of MCP servers. Arrow keys and Tab complete'],
  ['?', 'This list'],
]

/** All keys. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <dl class="key-table">
        {keyTable.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="soft">Single-letter keys work outside of fields. Turn them off in the commands.</p>
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
