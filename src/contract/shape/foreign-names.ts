/** What other libraries call our options, in lower case and without signs; before each the names that it may have here, the first that fits. */
const foreignNames: readonly (readonly [ours: string, theirs: string])[] = [
  ['systemPrompt', 'system instructions instruction systemmessage systeminstruction developer'],
  ['parameters', 'inputschema schema argsschema arguments input'],
  ['tools', 'tool functions'],
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
  ['headers', 'defaultheaders extraheaders'],
  ['model id', 'modelid modelname deployment'],
  ['api', 'protocol'],
]

/** The names here for what somebody else calls `name`, which is in lower case and without signs. */
export function namesFor(name: string): string[] {
  return foreignNames.flatMap(([ours, theirs]) => (theirs.split(' ').includes(name) ? ours.split(' ') : []))
}

/** What to say of a tool at `path` that is in the form of OpenAI's API; undefined for any other value. */
export function openAiTool(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'type') !== 'function') return undefined
  if (typeof Reflect.get(value, 'execute') === 'function') return undefined
  return `${path} is a tool in the form of OpenAI's API, which does not say what runs. Make one of its name, description and parameters: defineTool({ name, description, parameters, execute }).`
}
