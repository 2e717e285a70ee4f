import type { AnnotatedRequest } from '../../../../src/context.ts'
import { type AgentMessage, type AssistantMessage, ProviderError, parseOutput } from '../../../../src/index.ts'
import type { LoopRecord } from '../../../../src/session.ts'
import { errorText } from '../../parts/error-text.ts'

/** A violation of the requested response format. */
export interface Misfit {
  word: string
  /** The part that violates the format. */
  text: string
  /** The request's loop and turn. */
  turn?: { loopId: string; turnIndex: number } | undefined
}

/** Responses that violate their requested format, by message id. */
export type Misfits = ReadonlyMap<string, Misfit>

export const noMisfits: Misfits = new Map()

type Form = AnnotatedRequest['responseFormat']

/** Returns why `message` violates `form`, or `undefined` if it does not or is incomplete. Never rejects. */
export async function misfitOf(message: AgentMessage, form: Form): Promise<Misfit | undefined> {
  const schema = schemaOf(form)
  if (schema === undefined || message.role !== 'assistant' || message.stopReason !== 'stop') return undefined
  try {
    await parseOutput(message, schema)
    return undefined
  } catch (error) {
    const [text, turn] = [errorText(error), message.turnId]
    if (ProviderError.isInstance(error)) return { word: 'Schema not met', text, turn }
    return { word: 'Schema not checked', turn, text: `The response was not checked against its schema: ${text}` }
  }
}

/** Loads the validator while the response streams. */
export function expectForm(begun: AssistantMessage, form: Form): void {
  void misfitOf({ ...begun, id: '', stopReason: 'stop', content: [{ type: 'text', text: '{}' }] }, form)
}

function schemaOf(form: Form) {
  if (form === undefined || form.type === 'text') return undefined
  return form.type === 'jsonSchema' ? form.schema : { type: 'object' as const }
}

/** Checks the responses in a recorded conversation, if their requests are recorded. */
export async function misfitsIn({ loops }: { loops: readonly LoopRecord[] }): Promise<Misfits> {
  const forms = new Map(
    loops.flatMap(({ turns }) => turns.map(({ turnId, requestPayload }) => [keyOf(turnId), requestPayload?.responseFormat])),
  )
  const messages = loops.flatMap((loop) => loop.messages)
  const found = await Promise.all(
    messages.map(async (message) => {
      const turn = message.role === 'assistant' ? message.turnId : undefined
      const misfit = turn && (await misfitOf(message, forms.get(keyOf(turn))))
      return misfit === undefined ? [] : [[message.id, misfit] as const]
    }),
  )
  return new Map(found.flat())
}

const keyOf = ({ loopId, turnIndex }: { loopId: string; turnIndex: number }) => `${loopId}#${turnIndex}`
