import type { JsonObject } from '../../contract/json.ts'
import type { SavedState, StateChange } from '../../contract/session/shared-state.ts'
import { PatchFault, patched } from './json-patch.ts'

/** Shared state after one more change; as it was where that does not follow from it. */
export function changedState(before: SavedState | undefined, { version, patch, value }: StateChange): SavedState | undefined {
  if (value !== undefined) return { version, value }
  if (before === undefined || patch === undefined || version !== before.version + 1) return before
  try {
    return { version, value: patched(before.value, patch) as JsonObject } // a patch of ours is about the parts of an object
  } catch (error) {
    if (error instanceof PatchFault) return before
    throw error
  }
}
