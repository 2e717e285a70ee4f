import { Dialog } from '../parts/dialog.tsx'
import { keyTable } from './keys.ts'

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
      <p class="soft">Single letters act outside of fields. Switch them off in the commands.</p>
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
