import { argumentsHash } from '../../base/hash.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { text } from '../../contract/message/message.ts'
import type { PendingClientCall } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ClientCallHandler, ClientCallOutcome } from '../../types/run/question.ts'
import type { ClientRun } from '../../types/tool/tool.ts'
import { formatIssues } from '../../validation/format-issues.ts'
import { jsonSchemaValidator } from '../../validation/json-schema-validator.ts'
import { isStandardSchema } from '../../validation/tool-parameters.ts'
import type { PreparedCall } from '../calls/prepare-call.ts'
import { errorResult } from '../calls/tool-result.ts'
import type { LoopState } from '../loop-state.ts'
import { AskedCall } from './asked-call.ts'
import { AskedQuestion, clientCallQuestion } from './question.ts'

/** Outcome of a client tool call: its result, or a pending call. */
export type ClientCallResult =
  | { kind: 'done'; result: ToolResult; kept?: (failure?: Error) => void }
  | { kind: 'paused'; pending: PendingClientCall }

/** Default handler, for runs without clients. */
const unattended: ClientCallHandler = {
  wait: (_request, tell) => {
    queueMicrotask(() => tell({ type: 'left' }))
    return () => undefined
  },
}

/**
 * Requests a client tool call.
 *
 * **Contract**
 * - Emits exactly one `clientCallResolved` for each `clientCallRequested`, even after a timeout or if the run is stopped.
 * - If the tool sets `timeoutMs`, the model gets an error after that time, counted from the first request in any process. Otherwise, the
 *   call is `paused` if no client is connected or responds within `approvalTimeoutMs`.
 * - If the run is stopped first, rejects with the reason.
 */
export async function askClient(loop: LoopState, call: PreparedCall, { maxResultChars }: ClientRun): Promise<ClientCallResult> {
  const { id: toolCallId, name: toolName, written, tool, edited } = call
  const { events, options, budget, stop, config } = loop
  const { timeoutMs } = tool
  const asked = new AskedCall(loop, { toolCallId, argumentsHash: argumentsHash(written) })
  await asked.begin(timeoutMs)
  const { deadline } = asked
  const pending: PendingClientCall = {
    ...{ toolCallId, toolName, args: copyJson(written), argumentsHash: asked.argumentsHash },
    ...(deadline !== undefined && { deadline }),
    ...(edited !== undefined && { edited }),
  }
  stop.throwIfAborted()
  const outcome = await new Promise<ClientCallOutcome>((resolve) => {
    new AskedQuestion(clientCallQuestion(events, pending, asked.terms(maxResultChars)), resolve).begin(options.clientCalls ?? unattended, {
      stop,
      whyStopped: () => 'the run was stopped',
      timeoutMs: deadline === undefined ? config.approvalTimeoutMs : Math.max(0, deadline - Date.now()),
      // Pause the budget's clock while the run waits for a client.
      pauses: [() => budget.pause()],
    })
  })
  if (outcome.type === 'answered') {
    const { result, kept } = outcome
    asked.end()
    return { kind: 'done', result, kept }
  }
  stop.throwIfAborted()
  if (outcome.type === 'unanswered' && timeoutMs !== undefined) {
    asked.end()
    return {
      kind: 'done',
      result: errorResult(`No client responded to the ${toolName} call within ${timeoutMs} ms. It may or may not have had an effect.`),
    }
  }
  return { kind: 'paused', pending }
}

/**
 * Returns `result` if it matches the tool's `output` schema. Otherwise, returns a result that describes the mismatch, and logs a warning.
 * That result is not an error, because the tool has run and a model would retry it. Rejects with `LoadError` and with errors from the
 * schema.
 */
export async function fitting(loop: LoopState, toolName: string, result: ToolResult, output: ClientRun['output']): Promise<ToolResult> {
  if (output === undefined || result.isError === true) return result
  const [first] = result.content
  const value = result.details ?? (first?.type === 'text' ? first.text : null)
  const { schemaValidator = jsonSchemaValidator } = loop.config
  const checked = isStandardSchema(output) ? output['~standard'].validate(value) : schemaValidator.compile(output)(value)
  const { issues } = await checked
  if (issues === undefined) return result
  const why = `Its result does not match its output schema: ${formatIssues(issues, 'output')}`
  loop.log.warn('toolResult', {
    toolName,
    message: `${toolName} ran. ${why}`,
    hint: "Return a value that matches the client tool's output schema.",
  })
  return { content: [text(`The tool ran. ${why}`)] }
}
