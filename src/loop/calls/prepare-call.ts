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

/** A call whose tool was found and whose arguments are valid. */
export interface PreparedCall {
  id: string
  name: string
  tool: AgentTool
  /** As the model wrote them, plain JSON: what people see, approvals are bound to and journals keep. Nobody else has this object. */
  written: JsonObject
  /** As the schema parsed them, which may be anything: dates, bigints, maps. Only the tool sees these. */
  args: JsonObject
  /** Only the decision is ours: the service runs it, with the arguments it has. */
  isOfService?: true
}

/** A call that is not run, and what the model is told instead. */
export interface RefusedCall {
  kind: 'refused'
  result: ToolResult
}

/** What the first look at a call comes to. */
export type Preparation = { kind: 'ready'; call: PreparedCall } | RefusedCall

/**
 * Finds the tool of a call and validates its arguments. No promise, unless the schema answers with one. Never throws; rejects with the reason
 * of a stopped run, and with `LoadError` when the JSON Schema interpreter cannot be had.
 */
export function prepareCall(loop: LoopState, call: AnswerableCall): Preparation | Promise<Preparation> {
  if (call.isOfService === true) return decisionAbout(call)
  const { tools, searchable } = loop.turn
  const isCalled = ({ name }: AgentTool): boolean => name === call.name
  const tool = tools.find(isCalled) ?? searchable.find(isCalled)
  if (tool === undefined) return loop.turn.goesOn === true ? gone(loop, call) : refused(`Tool ${call.name} not found`)
  const { invalidArguments: raw } = call
  if (raw !== undefined) return refused(`Invalid arguments: ${parseArguments(raw).fault ?? cutFault}: ${excerpt(raw)}`)
  return validateArguments(loop, tool, call.id, call.arguments)
}

/** A call that waited, and whose tool nobody has any more. */
function gone(loop: LoopState, { id: toolCallId, name: toolName }: AnswerableCall): RefusedCall {
  const message = `Tool ${toolName} not found: the call waited, and the tool is not there any more. It was not run.`
  loop.log.warn('callRefused', {
    toolCallId,
    toolName,
    message,
    hint: 'Give the tool to the agent that goes on, or let its prepareTurn hook return it.',
  })
  return refused(message)
}

/** A call that its service runs once a person has said yes. Running it here is no more than that yes, which the codec tells the service. */
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

/** As {@link prepareCall}, for a tool that is known. */
export function validateArguments(loop: LoopState, tool: AgentTool, id: string, given: JsonObject): Preparation | Promise<Preparation> {
  try {
    // What is shown, what an approval is bound to and what runs are made of this one copy, and it means what its JSON says.
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

/** `written` as the schema of the tool parses it. A new object each time: whoever gets it can change nobody else's. */
export function parsed(
  loop: LoopState,
  tool: AgentTool,
  written: JsonObject,
): SchemaResult<JsonObject> | Promise<SchemaResult<JsonObject>> {
  return checkArguments(tool, copyJson(written), loop.config.schemaValidator)
}

/** The model is told, and so is whoever runs it: a schema that no model gets right is seen nowhere else. */
function misfit(loop: LoopState, toolName: string, toolCallId: string, issues: string): RefusedCall {
  loop.log.warn('callRefused', {
    toolCallId,
    toolName,
    message: `The model called ${JSON.stringify(toolName)} with invalid arguments: ${issues.replaceAll('\n', '; ')}.`,
    hint: 'It was told, and may call again. Where this comes often, say more in the description of the tool.',
  })
  return refused(`Invalid arguments: ${issues}`)
}

function refused(message: string): RefusedCall {
  return { kind: 'refused', result: errorResult(message) }
}

function excerpt(raw: string): string {
  return raw.length <= 200 ? raw : `${raw.slice(0, 200)}… (${raw.length} characters)`
}
