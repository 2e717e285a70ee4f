import { argumentsFault, cutFault, parseArguments } from '../../base/json/call-arguments.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AnswerableCall, text } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { SchemaResult } from '../../types/standard-schema.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { formatIssues } from '../../validation/format-issues.ts'
import { checkArguments } from '../../validation/tool-parameters.ts'
import type { LoopState } from '../loop-state.ts'
import { errorResult } from './tool-result.ts'

/** A call of a known tool with valid arguments. */
export interface PreparedCall {
  id: string
  name: string
  tool: AgentTool
  /** Arguments as the model wrote them, in plain JSON: shown for approval, hashed and recorded. An exclusive copy. */
  written: JsonObject
  /** Arguments as parsed by the schema, possibly not JSON: dates, bigints, maps. Only for the tool. */
  args: JsonObject
  /** Only the approval is decided here; the provider executes the call with its own arguments. */
  isOfService?: true
}

/** A call that is not run, with the result for the model. */
export interface RefusedCall {
  kind: 'refused'
  result: ToolResult
}

/** Result of preparing a call. */
export type Preparation = { kind: 'ready'; call: PreparedCall } | RefusedCall

/**
 * Finds the tool of a call and validates its arguments. Returns no promise unless the schema does. Never throws; rejects with the reason of
 * a stopped run, and with `LoadError` if the schema interpreter cannot be loaded.
 */
export function prepareCall(loop: LoopState, call: AnswerableCall): Preparation | Promise<Preparation> {
  if (call.isOfService === true) return decisionAbout(call)
  const { tools, searchable } = loop.turn
  const isCalled = ({ name }: AgentTool): boolean => name === call.name
  const tool = tools.find(isCalled) ?? searchable.find(isCalled)
  if (tool === undefined) return loop.turn.goesOn === true ? removedTool(loop, call) : refused(`Tool ${call.name} not found`)
  const { invalidArguments: raw } = call
  if (raw !== undefined) return refused(`Invalid arguments: ${parseArguments(raw).fault ?? cutFault}: ${excerpt(raw)}`)
  return validateArguments(loop, tool, call.id, call.arguments)
}

/** Refuses a pending call whose tool no longer exists. */
function removedTool(loop: LoopState, { id: toolCallId, name: toolName }: AnswerableCall): RefusedCall {
  const message = `Tool ${toolName} not found: the call waited, and the tool is not there any more. It was not run.`
  loop.log.warn('callRefused', {
    toolCallId,
    toolName,
    message,
    hint: 'Give the tool to the agent that continues, or let its prepareTurn hook return it.',
  })
  return refused(message)
}

/**
 * Prepares a provider-executed call that needs an approval. Running it here only records the approval, which the codec sends to the
 * provider.
 */
function decisionAbout({ id, name, arguments: given }: AnswerableCall): Preparation {
  const fault = argumentsFault(given)
  if (fault !== undefined) return refused(`Invalid arguments: ${fault}`)
  const written = copyJson(given)
  const tool: AgentTool = {
    name,
    label: name,
    description: 'Run by the service of the model.',
    parameters: { type: 'object' },
    needsApproval: true,
    idempotent: true,
    execute: async () => ({ content: [text('Approved.')] }),
  }
  return { kind: 'ready', call: { id, name, tool, written, args: written, isOfService: true } }
}

/** {@link prepareCall} for a known tool. */
export function validateArguments(loop: LoopState, tool: AgentTool, id: string, given: JsonObject): Preparation | Promise<Preparation> {
  try {
    // Approval, hash and execution all derive from this one unambiguous copy.
    const fault = argumentsFault(given)
    if (fault !== undefined) return refused(`Invalid arguments: ${fault}`)
    const written = copyJson(given)
    const checked = parsed(loop, tool, written)
    const prepared = (result: SchemaResult<JsonObject>): Preparation =>
      result.issues === undefined
        ? { kind: 'ready', call: { id, name: tool.name, tool, written, args: result.value } }
        : misfit(loop, tool.name, id, formatIssues(result.issues))
    return 'then' in checked ? loop.stop.race(checked).then(prepared) : prepared(checked)
  } catch (error) {
    return refused(errorText(error))
  }
}

/** Parses `written` with the tool's schema into a new object, so that no caller can change another's arguments. */
export function parsed(
  loop: LoopState,
  tool: AgentTool,
  written: JsonObject,
): SchemaResult<JsonObject> | Promise<SchemaResult<JsonObject>> {
  return checkArguments(tool, copyJson(written), loop.config.schemaValidator)
}

/** Also logged: a schema that no model satisfies would otherwise go unnoticed. */
function misfit(loop: LoopState, toolName: string, toolCallId: string, issues: string): RefusedCall {
  loop.log.warn('callRefused', {
    toolCallId,
    toolName,
    message: `The model called ${JSON.stringify(toolName)} with invalid arguments: ${issues.replaceAll('\n', '; ')}.`,
    hint: 'The model received the error, and may call again. If this happens often, say more in the description of the tool.',
  })
  return refused(`Invalid arguments: ${issues}`)
}

function refused(message: string): RefusedCall {
  return { kind: 'refused', result: errorResult(message) }
}

function excerpt(raw: string): string {
  return raw.length <= 200 ? raw : `${raw.slice(0, 200)}… (${raw.length} characters)`
}
