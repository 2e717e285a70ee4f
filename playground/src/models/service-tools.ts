import type { JsonObject } from '../../../src/index.ts'
import type { ModelChoice } from '../settings/settings.ts'
import type { Service, ServiceId } from './services.ts'

/** Provider-executed tools, as the SDK declares them. */
export interface ServiceToolKit {
  /** Their module, `phi-core/providers/…`, and its export. */
  entry: Service['entry']
  kit: string
  /** Display names by constructor name. */
  tools: Readonly<Record<string, string>>
  /** Returns the declarations of the tools in `names` that are in the kit, in its order. */
  declare(names: readonly string[]): Promise<JsonObject[]>
}

/** The tools that need only a key. Tools that need the user's stores, files or servers are left to programs. */
function toolKit<Name extends string>(
  entry: Service['entry'],
  kit: string,
  tools: Readonly<Record<Name, string>>,
  load: () => Promise<Readonly<Record<NoInfer<Name>, () => JsonObject>>>,
): ServiceToolKit {
  const known = Object.keys(tools) as Name[] // the keys of a record of names
  return {
    ...{ entry, kit, tools },
    async declare(names) {
      const chosen = known.filter((name) => names.includes(name))
      if (chosen.length === 0) return []
      const made = await load()
      return chosen.map((name) => made[name]())
    },
  }
}

const openaiKit = toolKit(
  'openai',
  'openaiTools',
  { webSearch: 'Web search', codeInterpreter: 'Code interpreter', imageGeneration: 'Image generation' },
  async () => (await import('../../../src/providers/openai.ts')).openaiTools,
)
const googleKit = toolKit(
  'google',
  'googleTools',
  { search: 'Google Search', urlContext: 'URL context', codeExecution: 'Code execution', maps: 'Google Maps' },
  async () => (await import('../../../src/providers/google.ts')).googleTools,
)
const chat = () => import('../../../src/providers/openai.ts')

/** By provider. Absent if a provider has no tools with a constructor in the SDK. Source: docs/concepts/tools.md */
const kits: Partial<Record<ServiceId, ServiceToolKit>> = {
  anthropic: toolKit(
    'anthropic',
    'anthropicTools',
    { webSearch: 'Web search', webFetch: 'Web fetch', codeExecution: 'Code execution' },
    async () => (await import('../../../src/providers/anthropic/index.ts')).anthropicTools,
  ),
  openai: toolKit('openai', 'chatTools', { webSearch: 'Web search (search models)' }, async () => (await chat()).chatTools),
  openaiResponses: openaiKit,
  azure: openaiKit,
  google: googleKit,
  vertex: googleKit,
  openrouter: toolKit(
    'openai',
    'openrouterTools',
    { webSearch: 'Web search', webFetch: 'Web fetch', imageGeneration: 'Image generation', datetime: 'Date and time' },
    async () => (await chat()).openrouterTools,
  ),
  groq: toolKit(
    'openai',
    'chatTools',
    { groqBrowserSearch: 'Browser search', groqCodeInterpreter: 'Code interpreter' },
    async () => (await chat()).chatTools,
  ),
  bedrock: toolKit(
    'bedrock',
    'bedrockTools',
    { grounding: 'Web grounding (Nova 2)', codeInterpreter: 'Code interpreter (Nova 2)' },
    async () => (await import('../../../src/providers/bedrock/index.ts')).bedrockTools,
  ),
}

/** Returns the selected provider's tools. Local servers and the scripted model have none. */
export function serviceToolKit({ source, service }: Pick<ModelChoice, 'source' | 'service'>): ServiceToolKit | undefined {
  return source === 'direct' || source === 'proxy' ? kits[service] : undefined
}
