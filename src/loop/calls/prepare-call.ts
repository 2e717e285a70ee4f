import { argumentsFault, cutFault, parseArguments } from '../../base/json/call-arguments.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ConfigError, errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AnswerableCall, text, textOf } from '../../contract/message/message.ts'
import type { EditedArguments } from '../../contract/tool/edited-arguments.ts'
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
  /** A separate copy of the model's arguments as plain JSON, for approval, hashing and recording. */
  written: JsonObject
  /** Arguments that the schema parsed, possibly with dates, bigints or maps. Passed only to the tool. */
  args: JsonObject
  /** Whether the provider executes the call with its own arguments. The loop then decides only about the approval. */
  isOfService?: true
  /** Set if an approver replaced the model's arguments with `written`. */
  edited?: EditedArguments
}

/** A call that must not run, and its result for the model. */
export interface RefusedCall {
  kind: 'refused'
  result: ToolResult
}

/** Result of preparing a call. */
export type Preparation = { kind: 'ready'; call: PreparedCall } | RefusedCall

/**
 * Finds a call's tool and validates its arguments. Returns a promise only if the schema does. Never throws. Rejects with the reason if the
 * run is stopped, and with `LoadError` if the schema interpreter cannot be loaded.
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
  const message = `Tool ${toolName} not found: it was removed while the call was pending. The call did not run.`
  loop.log.warn('callRefused', {
    toolCallId,
    toolName,
    message,
    hint: 'Pass the tool to the agent that continues, or return it from prepareTurn.',
  })
  return refused(message)
}

/**
 * Prepares a provider-executed call that needs an approval. Running the prepared call only records the approval. The codec sends it to the
 * provider.
 */
function decisionAbout({ id, name, arguments: given }: AnswerableCall): Preparation {
  const fault = argumentsFault(given)
  if (fault !== undefined) return refused(`Invalid arguments: ${fault}`)
  const written = copyJson(given)
  const tool: AgentTool = {
    name,
    label: name,
    description: 'Executed by the provider.',
    parameters: { type: 'object' },
    needsApproval: true,
    idempotent: true,
    execute: async () => ({ content: [text('Approved.')] }),
  }
  return { kind: 'ready', call: { id, name, tool, written, args: written, isOfService: true } }
}

/** Validates a call's arguments with the given tool. See {@link prepareCall}. `log: false` for arguments that the model did not write. */
function validateArguments(
  loop: LoopState,
  tool: AgentTool,
  id: string,
  given: JsonObject,
  log: LoopState['log'] | false = loop.log,
): Preparation | Promise<Preparation> {
  try {
    // Approval, hash and execution all use this copy, so that the executed arguments are the approved ones.
    const fault = argumentsFault(given)
    if (fault !== undefined) return refused(`Invalid arguments: ${fault}`)
    const written = copyJson(given)
    const checked = parsed(loop, tool, written)
    const prepared = (result: SchemaResult<JsonObject>): Preparation =>
      result.issues === undefined
        ? { kind: 'ready', call: { id, name: tool.name, tool, written, args: result.value } }
        : misfit(log, tool.name, id, formatIssues(result.issues))
    return 'then' in checked ? loop.stop.race(checked).then(prepared) : prepared(checked)
  } catch (error) {
    return refused(errorText(error))
  }
}

/** Validates arguments from a hook or an approver that replace the model's arguments. */
export async function replaceArguments(loop: LoopState, call: PreparedCall, given: JsonObject, log?: false): Promise<Preparation> {
  const { id, name, tool, isOfService } = call
  if (isOfService === true) return refused(`${name} runs at the provider: its arguments are fixed.`)
  return validateArguments(loop, tool, id, given, log)
}

/** Returns `call` with arguments that an approver edited. Rejects with `ConfigError` `invalidOption` if they are invalid. */
export async function editedCall(loop: LoopState, call: PreparedCall, given: JsonObject): Promise<PreparedCall> {
  const prepared = await replaceArguments(loop, call, given, false)
  if (prepared.kind === 'refused') throw new ConfigError('invalidOption', textOf(prepared.result.content))
  return prepared.call
}

/** Parses `written` with the tool's schema into a new object, so that no caller can change another's arguments. */
export function parsed(
  loop: LoopState,
  tool: AgentTool,
  written: JsonObject,
): SchemaResult<JsonObject> | Promise<SchemaResult<JsonObject>> {
  return checkArguments(tool, copyJson(written), loop.config.schemaValidator)
}

/** Refuses a call whose arguments do not match the schema. Logs this, so that a developer notices a schema that no model satisfies. */
function misfit(log: LoopState['log'] | false, toolName: string, toolCallId: string, issues: string): RefusedCall {
  if (log) {
    log.warn('callRefused', {
      toolCallId,
      toolName,
      message: `The model called ${JSON.stringify(toolName)} with invalid arguments: ${issues.replaceAll('\n', '; ')}.`,
      hint: 'The model received the error and may retry. If this happens often, make the tool description more specific.',
    })
  }
  return refused(`Invalid arguments: ${issues}`)
}

function refused(message: string): RefusedCall {
  return { kind: 'refused', result: errorResult(message) }
}

function excerpt(raw: string): string {
  return raw.length <= 200 ? raw : `${raw.slice(0, 200)}… (${raw.length} characters)`
}
