// One chunk, loaded on first use. See `loop/compaction.ts`.
export { compactContext } from './compact-context.ts'
export { applyContextChanges } from './context-changes.ts'
export { RequestView } from './request-view.ts'
