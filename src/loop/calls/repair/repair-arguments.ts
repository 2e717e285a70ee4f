import type { argumentsFault, cutFault, parseArguments } from '../../../base/json/call-arguments.ts'
import type { errorText } from '../../../contract/errors.ts'
import type { isObject, JsonObject } from '../../../contract/json.ts'
import type { Content, ToolCallContent } from '../../../contract/message/content.ts'
import type { AgentTool } from '../../../types/tool/tool.ts'
import type { LoopState } from '../../loop-state.ts'
import type { AssistantEntry } from '../../model/assistant-stream.ts'
import type { parsed } from '../prepare-call.ts'
import { type Readings, readingsOf } from './readings.ts'

/**
 * Loop functions that this chunk uses. The loop passes them in, because bundlers would put shared imports into every program's main chunk.
 */
export interface LoopParts {
  argumentsFault: typeof argumentsFault
  cutFault: typeof cutFault
  parseArguments: typeof parseArguments
  parsed: typeof parsed
  errorText: typeof errorText
  isObject: typeof isObject
}

/** The run whose tool calls are repaired. */
interface Repair {
  loop: LoopState
  parts: LoopParts
}

/**
 * Repairs the invalid arguments of each call in `message`: uses the only reading that the schema accepts, or else the `repairToolCall`
 * hook. Rejects if the run is stopped.
 */
export async function repairArguments(loop: LoopState, message: AssistantEntry, parts: LoopParts): Promise<void> {
  message.content = await Promise.all(message.content.map((block) => repaired({ loop, parts }, block)))
}

async function repaired(repair: Repair, block: Content): Promise<Content> {
  if (block.type !== 'toolCall' || block.invalidArguments === undefined || block.isCut === true) return block
  const { loop, parts } = repair
  const { tools, searchable } = loop.turn
  const tool = [...tools, ...searchable].find(({ name }) => name === block.name)
  const text = block.invalidArguments
  const { fault } = parts.parseArguments(text)
  if (tool === undefined || fault === undefined) return block
  const readings = readingsOf(text)
  const isCut = readings.isOpen || (readings.texts.length === 0 && fault === parts.cutFault)
  const reading = await onlyReading(repair, tool, readings)
  const args = reading ?? (isCut ? undefined : await givenByHook(repair, tool, block, { text, fault }))
  if (args === undefined) return block
  const { invalidArguments: _, ...call } = block
  loop.log.warn('argumentsRepaired', {
    toolCallId: block.id,
    toolName: block.name,
    message: `Repaired the arguments of a ${JSON.stringify(block.name)} call, which were not valid JSON (${fault}).`,
    hint: 'The original text is in repairedFrom.',
  })
  return { ...call, arguments: args, repairedFrom: text }
}

/** Returns the only reading that the schema accepts, or `undefined` if several match or a reading is ambiguous. */
async function onlyReading(repair: Repair, tool: AgentTool, { texts }: Readings): Promise<JsonObject | undefined> {
  const fitting = new Map<string, JsonObject>()
  for (const json of texts) {
    const found = repair.parts.parseArguments(json)
    if (found.fault !== undefined) return undefined
    if (await fits(repair, tool, found.arguments)) fitting.set(JSON.stringify(found.arguments), found.arguments)
  }
  const [only, ...others] = fitting.values()
  return others.length === 0 ? only : undefined
}

/** Returns whether a reading matches the schema. A schema that throws matches no reading; the call's validation reports the error. */
async function fits({ loop, parts }: Repair, tool: AgentTool, args: JsonObject): Promise<boolean> {
  const checking = (async () => parts.parsed(loop, tool, args))()
  const result = await loop.stop.race(checking).catch((error) => {
    if (loop.stop.aborted) throw error
    return { issues: error }
  })
  return result.issues === undefined
}

async function givenByHook(
  { loop, parts }: Repair,
  tool: AgentTool,
  { id, name }: ToolCallContent,
  broken: { text: string; fault: string },
): Promise<JsonObject | undefined> {
  const hook = loop.config.hooks?.repairToolCall
  if (hook === undefined) return undefined
  const { stop, hooks } = loop
  const info = { ...hooks.origin(), toolCallId: id, toolName: name, ...broken, parameters: tool.parameters, signal: stop.signal }
  try {
    const given = await stop.race((async () => hook(info))())
    if (given === undefined || given === null) return undefined
    const args: unknown = Object(given).arguments
    const fault = parts.isObject(args) ? parts.argumentsFault(args) : 'arguments is not an object'
    if (fault !== undefined) throw new TypeError(`repairToolCall must return { arguments } or undefined: ${fault}`)
    return JSON.parse(JSON.stringify(args))
  } catch (error) {
    if (stop.aborted) throw error
    loop.log.warn('hookFailed', { hook: 'repairToolCall', message: parts.errorText(error) })
    return undefined
  }
}
