import { textOf } from '../../../src/index.ts'
import { childrenOf, type LoopRecord, type LoopStatus, loopChainTo, rootLoops, type Session } from '../../../src/session.ts'
import { lastLoopOf } from '../state/conversation/opened-state.ts'
import { kindWords } from '../state/log/run-words.ts'

export interface TreeRow {
  loopId: string
  depth: number
  kind: 'loop' | 'rerun' | 'branch' | 'compaction' | 'parallel' | 'subAgent'
  label: string
  status: LoopStatus | 'chosen'
  /** Whether it is on the path of the current conversation. */
  isOnPath: boolean
  turns: number
  /** Whether it can be continued. A sub-agent's loop belongs to its call and cannot be continued. */
  canOpen: boolean
}

/** Returns a session's loops, each after its parent. Loops outside the current path are indented. */
export function treeRows(session: Session, current: string | undefined): TreeRow[] {
  const path = new Set(loopChainTo(session, current ?? lastLoopOf(session) ?? ''))
  const rows: TreeRow[] = []
  const seen = new Set<string>()
  const walked = new Set<string>()

  function walk(loop: LoopRecord, depth: number): void {
    if (walked.has(loop.loopId)) return
    walked.add(loop.loopId)
    show(loop, depth)
    const children = childrenOf(session, loop.loopId)
    const main = children.find(({ loopId }) => path.has(loopId)) ?? children[0]
    // Parallel responses form a group that includes the selected one. The continuation is next to the group.
    if (main?.parallelGroup !== undefined) for (const child of children) show(child, depth + 1)
    for (const child of children) if (child !== main) walk(child, depth + 1)
    if (main !== undefined) walk(main, depth)
  }

  function show(loop: LoopRecord, depth: number): void {
    if (seen.has(loop.loopId)) return
    seen.add(loop.loopId)
    rows.push(rowOf(loop, depth, path.has(loop.loopId)), ...subAgentRows(loop, depth + 1))
  }

  const roots = rootLoops(session)
  const main = roots.find(({ loopId }) => path.has(loopId)) ?? roots[0]
  const isGroup = main?.parallelGroup !== undefined
  if (isGroup) for (const root of roots) show(root, 0)
  for (const root of roots) walk(root, root === main || isGroup ? 0 : 1)
  return rows
}

function rowOf(loop: LoopRecord, depth: number, isOnPath: boolean): TreeRow {
  const { loopId, parallelGroup, continuationKind, turns, status } = loop
  const kind = parallelGroup !== undefined ? 'parallel' : kindOf(continuationKind.kind)
  const shown = parallelGroup?.isSelected ? 'chosen' : status
  return { loopId, depth, kind, label: labelOf(loop), status: shown, isOnPath, turns: turns.length, canOpen: true }
}

function kindOf(kind: LoopRecord['continuationKind']['kind']): TreeRow['kind'] {
  return kind === 'initial' || kind === 'default' ? 'loop' : kind
}

function subAgentRows({ childLoopRefs }: LoopRecord, depth: number): TreeRow[] {
  return childLoopRefs.map(({ childLoopId, toolName }) => {
    return { loopId: childLoopId, depth, kind: 'subAgent', label: toolName, status: 'completed', isOnPath: false, turns: 0, canOpen: false }
  })
}

/** Returns a loop's prompt, or its kind. */
function labelOf({ messages, continuationKind, config, parallelGroup, status }: LoopRecord): string {
  const asked = messages.find((message) => message.role === 'user')
  if (parallelGroup !== undefined) return config?.name ?? 'branch'
  if (asked?.role === 'user')
    return textOf(asked.content).slice(0, 80) || (asked.content.some(({ type }) => type === 'image') ? 'Picture' : 'File')
  if (status === 'rejected') return 'refused by a filter'
  return continuationKind.kind === 'default' || continuationKind.kind === 'initial' ? 'went on' : kindWords[continuationKind.kind]
}
