import { isObject } from '../json.ts'

/**
 * Maps our option names to other libraries' names, in lower case without punctuation. If several of our names are possible, the first match
 * is used.
 */
const foreignNames: readonly (readonly [ours: string, theirs: string])[] = [
  ['systemPrompt', 'system instructions instruction systemmessage systeminstruction developer'],
  ['parameters', 'inputschema schema argsschema arguments input'],
  ['tools', 'tool functions mcpservers'],
  ['maxTurns', 'maxsteps maxiterations maxrounds maxloops recursionlimit stopwhen'],
  ['maxCost', 'maxbudget maxbudgetusd costlimit budgetusd'],
  ['baseUrl', 'url endpoint apibase apiurl host'],
  ['maxTokens', 'maxoutputtokens maxcompletiontokens maxnewtokens maxtokenstosample numpredict'],
  ['contextWindow', 'contextlength numctx maxcontextlength'],
  ['apiKey', 'key token apitoken authtoken'],
  ['execute', 'handler run func fn function callback invoke'],
  ['needsApproval', 'requiresapproval requireapproval needspermission requireconfirmation confirm'],
  ['thinking thinkingLevel', 'reasoning reasoningeffort effort thinkinglevel thinkingbudget'],
  ['responseFormat', 'output outputtype outputschema responseschema schema textformat structuredoutput'],
  ['messages', 'history initialmessages chathistory'],
  ['session', 'store sessionstore checkpointer memory'],
  ['sessionId', 'threadid conversationid chatid'],
  ['signal', 'abortsignal abortcontroller abort'],
  ['stopSequences', 'stop'],
  ['headers', 'defaultheaders extraheaders'],
  ['model id', 'modelid modelname deployment'],
  ['api', 'protocol'],
  ['text', 'content'],
  ['execution', 'limits'],
]

/** Returns our names for another library's name, which must be in lower case without punctuation. */
export function namesFor(name: string): string[] {
  return foreignNames.flatMap(([ours, theirs]) => (theirs.split(' ').includes(name) ? ours.split(' ') : []))
}

/** Content blocks of other libraries and their equivalents in this package. */
const foreignBlocks: readonly (readonly [theirs: string, here: string])[] = [
  ['image_url input_image', "{ type: 'image', url: 'https://…', mimeType: 'image/png' }, or data with base64 for url"],
  ['document input_file', "{ type: 'file', data: 'base64', mimeType: 'application/pdf' }"],
  ['tool_result tool-result', "a message: { role: 'toolResult', toolCallId, toolName, content, isError }"],
]

/** Returns a correction for a content block of another library at `path`, or `undefined`. */
export function foreignBlock(value: unknown, path: string): string | undefined {
  const type: unknown = Object(value).type
  const [, here] = foreignBlocks.find(([theirs]) => typeof type === 'string' && theirs.split(' ').includes(type)) ?? []
  return here && `${path} is a block of type "${String(type)}", which other libraries use. Use ${here}.`
}

/** Returns a correction for a tool of another library at `path`, or `undefined`. */
export function foreignTool(value: unknown, path: string): string | undefined {
  const { type, execute, parameters }: { type?: unknown; execute?: unknown; parameters?: unknown } = Object(value)
  if (typeof type !== 'string' || typeof execute === 'function') return undefined
  if (type === 'function')
    return `${path} is a tool in OpenAI's format, which has no execute function. Create it with defineTool({ name, description, parameters, execute }).`
  if (parameters !== undefined) return undefined
  return `${path} is a provider-executed tool (type "${type.slice(0, 60)}"). Pass it to the model factory as serverTools.`
}

/** Returns a correction for tools passed as an object by name, as in the AI SDK, or `undefined`. */
export function foreignTools(value: unknown, path: string): string | undefined {
  if (!isObject(value)) return undefined
  const [[name, tool] = []] = Object.entries(value)
  if (name === undefined || typeof tool !== 'object') return undefined
  return `${path} is an object of tools by name, as in the AI SDK. Pass a list: [defineTool({ name: ${JSON.stringify(name.slice(0, 60))}, … }), …].`
}

/** Returns a correction for a response format of another library at `path`, or `undefined`. */
export function foreignFormat(value: unknown, path: string): string | undefined {
  const type: unknown = Object(value).type
  if (type === 'json_object') return `${path} is { type: 'json_object' }, which other libraries use. Pass { type: 'jsonObject' }.`
  if (type !== 'json' && type !== 'json_schema') return undefined
  return `${path} is of type "${type}", which other libraries use. Pass the schema itself: a zod or other Standard Schema, or a JSON Schema such as { type: 'object', properties: { … } }.`
}
