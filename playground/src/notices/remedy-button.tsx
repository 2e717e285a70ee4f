import { keepPlace } from '../parts/keep-place.ts'
import type { Remedy } from '../state/notices/remedies.ts'

const labels: Record<Remedy, string> = {
  retry: 'Try again',
  continue: 'Continue',
  compactAndRetry: 'Compact and retry',
  settings: 'Open settings',
  schema: 'Edit the schema',
  freeSpace: 'Free space',
  reload: 'Reload the page',
  takeOver: 'Go on here',
  stop: 'Stop it',
  open: 'Open it',
}

/** An action against a failure. */
export function RemedyButton({ remedy, onClick }: { remedy: Remedy; onClick: () => void }) {
  return (
    <button type="button" class="small" onClick={keepPlace(onClick)}>
      {labels[remedy]}
    </button>
  )
}
