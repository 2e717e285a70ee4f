import { isJsonObject } from '../../contract/json.ts'
import type { SavedState, StateChange } from '../../contract/session/shared-state.ts'
import { PatchFault, patched } from './json-patch.ts'

/** Shared state after one more change; as it was where that does not follow from it. */
export function changedState(before: SavedState | undefined, { version, patch, value }: StateChange): SavedState | undefined {
  if (value !== undefined) return { version, value }
  if (before === undefined || patch === undefined || version !== before.version + 1) return before
  try {
    const next = patched(before.value, patch)
    return isJsonObject(next) ? { version, value: next } : before
  } catch (error) {
    if (error instanceof PatchFault) return before
    throw error
  }
}
