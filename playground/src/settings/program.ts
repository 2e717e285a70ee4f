import { serverPrefixes } from '../mcp/mcp-address.ts'
import { type FactoryCall, factoryCall } from '../models/factory-call.ts'
import { plainOptions } from './agent-options.ts'
import type { Settings, ToolName } from './settings.ts'

const toolMakers: Record<ToolName, string> = {
  list_files: 'listFilesTool({ workspace })',
  read_file: 'readFileTool({ workspace })',
  search: 'searchTool({ workspace })',
  write_file: 'writeFileTool({ workspace })',
  edit_file: 'editFileTool({ workspace })',
  prun: '...prunTools()',
  revert: 'revertTool()',
}
const writers: readonly ToolName[] = ['write_file', 'edit_file']

/** Returns a program that does the same as the page with these settings. It contains no keys. */
export function programOf(settings: Settings, prompt = 'Hello! What can you do?'): string {
  return settings.place === 'server' ? remoteProgram(settings, prompt) : localProgram(settings, prompt)
}

function localProgram(settings: Settings, prompt: string): string {
  const model = settings.model.source === 'scripted' ? scriptedModel : realModel(factoryCall(settings.model))
  const { tools } = settings
  const mcp = mcpCode(settings)
  const usesFiles = tools.some((name) => name !== 'prun' && name !== 'revert')
  const makers = [...tools.map((name) => /(\w+)\(/.exec(toolMakers[name])?.[1] ?? ''), ...(usesFiles ? ['memoryWorkspace'] : [])]
  const options = plainOptions(settings)
  const given = [...tools.map((name) => toolCode(name, settings)), ...mcp.sets.map((set) => `...${set}`)]
  return `${[
    "import { Agent } from 'phi-core'",
    model.imports,
    ...(tools.length > 0 ? [`import { ${makers.toSorted().join(', ')} } from 'phi-core/tools'`] : []),
    ...mcp.imports,
    '',
    model.code,
    ...(usesFiles
      ? [
          "// In a page: opfsWorkspace() of phi-core/browser. In Node: nodeWorkspace('.') of phi-core/node.",
          "const workspace = memoryWorkspace({ 'README.md': '# Notes' })",
        ]
      : []),
    ...mcp.code,
    '',
    'const agent = new Agent({',
    '  model,',
    ...Object.entries(options).map(([name, value]) => `  ${name}: ${literal(value, 2)},`),
    ...(given.length > 0 ? ['  tools: [', ...given.map((code) => `    ${code},`), '  ],'] : []),
    ...mcp.owns,
    '})',
    '',
    ...reading(`agent.prompt(${quoted(prompt)})`),
    ...mcp.end,
  ].join('\n')}\n`
}

/** Connects to the enabled MCP servers. The agent closes them. The scripted model uses none. */
function mcpCode({ mcpServers, model, asksBeforeWriting }: Settings) {
  const prefixes = serverPrefixes(mcpServers.map(({ address }) => address))
  const used = mcpServers.map(({ address, isOn }, at) => ({ address, isOn, prefix: prefixes[at] ?? '' })).filter(({ isOn }) => isOn)
  if (model.source === 'scripted' || used.length === 0) return { imports: [], code: [], sets: [], owns: [], end: [] }
  const sets = used.map((_, at) => `server${at + 1}`)
  const asks = asksBeforeWriting ? ', needsApproval: ({ annotations }) => annotations?.readOnlyHint !== true' : ''
  return {
    imports: ["import { connectMcp } from 'phi-core/mcp'", "import { mcpTools } from 'phi-core/mcp'"],
    code: used.map(
      ({ address, prefix }, at) =>
        `const ${sets[at]} = await mcpTools(await connectMcp({ url: ${quoted(address)} }), { prefix: ${quoted(prefix)}${asks} })`,
    ),
    sets,
    owns: [`  owns: [${sets.join(', ')}],`],
    end: ['await agent.close()'],
  }
}

const scriptedModel = {
  imports: "import { scripted } from 'phi-core/testing'",
  code: "// No key and no network: the responses are scripted.\nconst model = scripted([{ text: 'Hello from a scripted model.' }])",
}

function realModel(call: FactoryCall) {
  const {
    factory,
    modelId,
    options: { baseUrl, ...options },
    keyVariable,
    serviceTools,
  } = call
  const given = [
    ...(keyVariable === undefined ? [] : [`apiKey: process.env.${keyVariable} ?? ''`]),
    ...Object.entries({ ...(baseUrl !== undefined && { baseUrl }), ...options }).map(([name, value]) => `${name}: ${literal(value, 2)}`),
    ...(serviceTools === undefined
      ? []
      : [`serverTools: [${serviceTools.names.map((name) => `${serviceTools.kit.kit}.${name}()`).join(', ')}]`]),
  ]
  const first = quoted(modelId)
  const rest = given.length === 0 ? '' : `, {\n${given.map((line) => `  ${line},\n`).join('')}}`
  return { imports: modelImports(call), code: `const model = ${factory}(${first}${rest})` }
}

function modelImports({ entry, factory, serviceTools }: FactoryCall): string {
  const line = (names: string, from: string) => `import { ${names} } from 'phi-core/providers/${from}'`
  if (serviceTools === undefined) return line(factory, entry)
  const { kit, entry: ofKit } = serviceTools.kit
  return ofKit === entry ? line(`${factory}, ${kit}`, entry) : `${line(factory, entry)}\n${line(kit, ofKit)}`
}

function toolCode(name: ToolName, { asksBeforeWriting }: Settings): string {
  return asksBeforeWriting && writers.includes(name) ? `{ ...${toolMakers[name]}, needsApproval: true }` : toolMakers[name]
}

function remoteProgram({ serverUrl }: Settings, prompt: string): string {
  return `${[
    "import { remoteSession } from 'phi-core/client'",
    '',
    'const session = remoteSession({',
    `  url: ${serverUrl === '' ? "process.env.SERVER_URL ?? 'http://127.0.0.1:8787'" : quoted(serverUrl)},`,
    "  sessionId: 'chat-1',",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program's.
    "  headers: { authorization: `Bearer ${process.env.ACCESS_TOKEN ?? ''}` },",
    '})',
    'await session.load()',
    '',
    ...reading(`session.send(${quoted(prompt)})`),
    'session.close()',
  ].join('\n')}\n`
}

function reading(run: string): string[] {
  return [
    `const run = ${run}`,
    'for await (const event of run) {',
    "  if (event.type === 'messageUpdate' && event.delta.type === 'text') process.stdout.write(event.delta.delta)",
    '  // Show the arguments to a person, and approve what they have seen.',
    "  if (event.type === 'approvalRequested') run.deny(event, 'Not approved.')",
    '}',
    'const { status, error } = await run.result',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is part of the program.
    'if (error !== undefined) throw new Error(`The run ended with ${status}: ${error.message}`)',
  ]
}

/** Formats a value as idiomatic TypeScript. */
function literal(value: unknown, indent: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map((part) => literal(part, indent)).join(', ')}]`
  const fields = Object.entries(value).map(([name, part]) => `${nameOf(name)}: ${literal(part, indent + 2)}`)
  const line = `{ ${fields.join(', ')} }`
  if (fields.length === 0) return '{}'
  if (line.length + indent < 100) return line
  const pad = ' '.repeat(indent)
  return `{\n${fields.map((field) => `${pad}  ${field},\n`).join('')}${pad}}`
}

/** Quotes a property name that is not an identifier. */
function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

function quoted(text: string): string {
  const json = JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
