import type { AgentMessage } from '../../contract/message/message.ts'

/** Kind of the extension message that keeps a report which no model was told: the run ended before. Its data is `{ message }`. Models never see it. */
export const keptReportKind = 'backgroundReport'

/** What was begun in a history and not reported to its model. */
export interface OpenBackground {
  readonly backgroundId: string
  readonly toolName: string
  /** The message of the report, where one was kept. */
  readonly kept: unknown
}

/** What a history says was begun beside a run and was never reported, in order. */
export function openBackground(messages: readonly AgentMessage[]): OpenBackground[] {
  const open = new Map<string, OpenBackground>()
  for (const message of messages) {
    if (message.role === 'toolResult') {
      const { backgroundId, toolName } = message
      if (backgroundId !== undefined) open.set(backgroundId, { backgroundId, toolName, kept: undefined })
    } else if (message.role === 'user') {
      if (message.provenanceHint?.kind === 'background') open.delete(message.provenanceHint.backgroundId)
    } else if (message.role === 'extension' && message.kind === keptReportKind) keep(open, message.data)
  }
  return [...open.values()]
}

function keep(open: Map<string, OpenBackground>, data: unknown): void {
  const { message }: { message?: unknown } = Object(data)
  const { provenanceHint }: { provenanceHint?: unknown } = Object(message)
  const { backgroundId }: { backgroundId?: unknown } = Object(provenanceHint)
  const begun = typeof backgroundId === 'string' ? open.get(backgroundId) : undefined
  if (begun !== undefined) open.set(begun.backgroundId, { ...begun, kept: message })
}
