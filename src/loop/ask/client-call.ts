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

/** Result of a client tool call, or that it is pending. */
export type ClientCallResult =
  | { kind: 'done'; result: ToolResult; kept?: (failure?: Error) => void }
  | { kind: 'paused'; pending: PendingClientCall }

/** Handler without clients. */
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
 * - `clientCallRequested` is followed by exactly one `clientCallResolved`, also on a timeout or if the run is stopped.
 * - With `timeoutMs` of the tool, the model gets an error after the deadline, counted from the first request in any process. Without it,
 *   the call is `paused` if no client responds within `approvalTimeoutMs`, or no client is connected.
 * - Rejects with the reason if the run is stopped first.
 */
export async function askClient(loop: LoopState, call: PreparedCall, { maxResultChars }: ClientRun): Promise<ClientCallResult> {
  const { id: toolCallId, name: toolName, written, tool } = call
  const { events, options, budget, stop, config } = loop
  const { timeoutMs } = tool
  const asked = new AskedCall(loop, { toolCallId, argumentsHash: argumentsHash(written) })
  await asked.begin(timeoutMs)
  const { deadline } = asked
  const pending: PendingClientCall = {
    ...{ toolCallId, toolName, args: copyJson(written), argumentsHash: asked.argumentsHash },
    ...(deadline !== undefined && { deadline }),
  }
  stop.throwIfAborted()
  const outcome = await new Promise<ClientCallOutcome>((resolve) => {
    new AskedQuestion(clientCallQuestion(events, pending, asked.terms(maxResultChars)), resolve).begin(options.clientCalls ?? unattended, {
      stop,
      whyStopped: () => 'the run was stopped',
      timeoutMs: deadline === undefined ? config.approvalTimeoutMs : Math.max(0, deadline - Date.now()),
      // The budget's time stands still while the run waits.
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
      result: errorResult(`No page answered the call of ${toolName} within ${timeoutMs} ms. Whether it had an effect is not known.`),
    }
  }
  return { kind: 'paused', pending }
}

/**
 * Returns `result` if it matches the `output` schema of its tool, else a result that describes the mismatch, with a warning. Not an error,
 * because the tool has run and a model would retry. Rejects with `LoadError` and with errors of the schema.
 */
export async function fitting(loop: LoopState, toolName: string, result: ToolResult, output: ClientRun['output']): Promise<ToolResult> {
  if (output === undefined || result.isError === true) return result
  const [first] = result.content
  const value = result.details ?? (first?.type === 'text' ? first.text : null)
  const { schemaValidator = jsonSchemaValidator } = loop.config
  const checked = isStandardSchema(output) ? output['~standard'].validate(value) : schemaValidator.compile(output)(value)
  const { issues } = await checked
  if (issues === undefined) return result
  const why = `Its result does not fit its output schema: ${formatIssues(issues, 'output')}`
  loop.log.warn('toolResult', {
    toolName,
    message: `${toolName} ran. ${why}`,
    hint: 'Return what the output schema of the client tool says.',
  })
  return { content: [text(`The tool ran. ${why}`)] }
}
