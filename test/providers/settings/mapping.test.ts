import { describe, expect, it } from 'vitest'
import { userMessage } from '../../../src/contract/message/message.ts'
import { type RequestSettings, type SettingName, settingNames, type ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { encoded, models, type Wire } from './asked-models.ts'

/** The settings asked for; the first one is looked at. */
type Asked = RequestSettings & { thinking?: ThinkingLevel }
/** What is sent for a setting, by protocol; `undefined`: it is left out, with a warning. */
const mapping: readonly (readonly [Asked, { readonly [wire in Wire]?: object | undefined }])[] = [
  [
    { toolChoice: 'required' },
    {
      anthropic: { tool_choice: { type: 'any' } },
      chat: { tool_choice: 'required' },
      responses: { tool_choice: 'required' },
      azure: { tool_choice: 'required' },
      vertex: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      bedrock: { toolConfig: { toolChoice: { any: {} } } },
    },
  ],
  [
    { toolChoice: { tool: 'sub' } },
    {
      anthropic: { tool_choice: { type: 'tool', name: 'sub' } },
      chat: { tool_choice: { type: 'function', function: { name: 'sub' } } },
      responses: { tool_choice: { type: 'function', name: 'sub' } },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['sub'] } } },
      bedrock: { toolConfig: { toolChoice: { tool: { name: 'sub' } } } },
    },
  ],
  [
    { toolChoice: 'none' },
    {
      anthropic: { tool_choice: { type: 'none' } },
      chat: { tool_choice: 'none' },
      responses: { tool_choice: 'none' },
      google: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    },
  ],
  [
    { toolChoice: { allowed: ['add'], mode: 'required' } },
    {
      anthropic: { tool_choice: { type: 'any' }, tools: [{ name: 'add' }] },
      chat: {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'add' } }] },
        },
      },
      responses: { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'add' }] } },
      local: { tool_choice: 'required', tools: [{ function: { name: 'add' } }] },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY' } }, tools: [{ functionDeclarations: [{ name: 'add' }] }] },
      bedrock: { toolConfig: { toolChoice: { any: {} }, tools: [{ toolSpec: { name: 'add' } }] } },
    },
  ],
  [
    { parallelToolCalls: false },
    {
      anthropic: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      chat: { parallel_tool_calls: false },
      responses: { parallel_tool_calls: false },
      azure: { parallel_tool_calls: false },
      google: undefined,
      vertex: undefined,
      bedrock: undefined,
    },
  ],
  [
    { temperature: 1.5 },
    {
      anthropic: { temperature: 1 },
      chat: { temperature: 1.5 },
      responses: { temperature: 1.5 },
      azure: { temperature: 1.5 },
      vertex: { generationConfig: { temperature: 1.5 } },
      google: { generationConfig: { temperature: 1.5 } },
      bedrock: { inferenceConfig: { temperature: 1 } },
    },
  ],
  [
    { topP: 0.5 },
    {
      anthropic: { top_p: 0.5 },
      chat: { top_p: 0.5 },
      responses: { top_p: 0.5 },
      azure: { top_p: 0.5 },
      vertex: { generationConfig: { topP: 0.5 } },
      google: { generationConfig: { topP: 0.5 } },
      bedrock: { inferenceConfig: { topP: 0.5 } },
    },
  ],
  [
    { topK: 5 },
    {
      anthropic: { top_k: 5 },
      chat: undefined,
      local: { top_k: 5 },
      responses: undefined,
      azure: undefined,
      vertex: { generationConfig: { topK: 5 } },
      google: { generationConfig: { topK: 5 } },
      bedrock: { additionalModelRequestFields: { top_k: 5 } },
    },
  ],
  [
    { stopSequences: ['A', 'B'] },
    {
      anthropic: { stop_sequences: ['A', 'B'] },
      chat: { stop: ['A', 'B'] },
      reasoning: undefined,
      responses: undefined,
      azure: undefined,
      vertex: { generationConfig: { stopSequences: ['A', 'B'] } },
      google: { generationConfig: { stopSequences: ['A', 'B'] } },
      bedrock: { inferenceConfig: { stopSequences: ['A', 'B'] } },
    },
  ],
  [
    { seed: 7 },
    {
      anthropic: undefined,
      chat: { seed: 7 },
      responses: undefined,
      azure: undefined,
      google: { generationConfig: { seed: 7 } },
      vertex: { generationConfig: { seed: 7 } },
      bedrock: undefined,
    },
  ],
  [
    { frequencyPenalty: 1 },
    {
      anthropic: undefined,
      chat: { frequency_penalty: 1 },
      reasoning: undefined,
      responses: undefined,
      azure: undefined,
      vertex: { generationConfig: { frequencyPenalty: 1 } },
      google: { generationConfig: { frequencyPenalty: 1 } },
      bedrock: undefined,
    },
  ],
  [
    { presencePenalty: -1 },
    {
      ...{ chat: { presence_penalty: -1 }, local: { presence_penalty: -1 } },
      ...{ anthropic: undefined, responses: undefined, azure: undefined, bedrock: undefined, flash: undefined },
      ...{ google: { generationConfig: { presencePenalty: -1 } }, vertex: { generationConfig: { presencePenalty: -1 } } },
    },
  ],
  [
    { verbosity: 'low' },
    {
      anthropic: undefined,
      chat: undefined,
      reasoning: { verbosity: 'low' },
      responses: { text: { verbosity: 'low' } },
      azure: { text: { verbosity: 'low' } },
      google: undefined,
      vertex: undefined,
      bedrock: undefined,
    },
  ],
  [
    { serviceTier: 'standard' },
    {
      anthropic: { service_tier: 'standard_only' },
      chat: { service_tier: 'default' },
      responses: { service_tier: 'default' },
      azure: { service_tier: 'default' },
      google: { serviceTier: 'standard' },
      bedrock: { serviceTier: { type: 'default' } },
      local: undefined,
    },
  ],
  [
    { serviceTier: 'priority' },
    { anthropic: { service_tier: 'auto' }, chat: { service_tier: 'priority' }, bedrock: { serviceTier: { type: 'priority' } } },
  ],
  [{ serviceTier: 'flex' }, { anthropic: undefined, responses: { service_tier: 'flex' }, google: { serviceTier: 'flex' } }],
  [
    { serviceTier: 'fast' },
    {
      ...{ anthropic: undefined, google: undefined, vertex: undefined },
      ...{ chat: { service_tier: 'fast' }, responses: { service_tier: 'fast' }, azure: { service_tier: 'fast' } },
      bedrock: { performanceConfig: { latency: 'optimized' } },
    },
  ],
  [
    { user: 'u' },
    {
      anthropic: { metadata: { user_id: 'u' } },
      chat: { safety_identifier: 'u' },
      local: { user: 'u' },
      router: { user: 'u' },
      responses: { safety_identifier: 'u' },
      azure: { safety_identifier: 'u' },
      google: undefined,
      vertex: undefined,
      bedrock: undefined,
    },
  ],
  [
    { cacheTtl: '1h' },
    {
      // Said at each breakpoint of the cache, of which there is none here.
      ...{ anthropic: {}, bedrock: {} },
      ...{ chat: { prompt_cache_retention: '24h' }, reasoning: { prompt_cache_retention: '24h' } },
      ...{ responses: { prompt_cache_retention: '24h' }, azure: { prompt_cache_retention: '24h' } },
      ...{ google: undefined, vertex: undefined, local: undefined },
    },
  ],
  [
    { thinkingSummary: 'none', thinking: 'high' },
    {
      anthropic: { thinking: { display: 'omitted' } },
      reasoning: undefined,
      google: {},
      flash: { generationConfig: { thinkingConfig: { includeThoughts: false, thinkingBudget: 8192 } } },
      bedrock: { additionalModelRequestFields: { thinking: { display: 'omitted' } } },
    },
  ],
  [
    { thinkingSummary: 'detailed', thinking: 'high' },
    {
      anthropic: { thinking: { display: 'summarized' } },
      // Nothing is thought, so there is nothing to show.
      ...{ chat: {}, local: {} },
      responses: { reasoning: { effort: 'high', summary: 'detailed' } },
      azure: { reasoning: { effort: 'high', summary: 'detailed' } },
      vertex: {},
      flash: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
    },
  ],
  [
    { thinkingBudget: 3000 },
    {
      counting: { thinking: { type: 'enabled', budget_tokens: 3000 } },
      flash: { generationConfig: { thinkingConfig: { thinkingBudget: 3000 } } },
      ...{ anthropic: undefined, chat: undefined, reasoning: undefined, responses: undefined, azure: undefined },
      ...{ google: undefined, vertex: undefined, bedrock: undefined },
    },
  ],
  [
    { maxTokens: 50 },
    {
      ...{ anthropic: { max_tokens: 50 }, chat: { max_completion_tokens: 50 }, local: { max_tokens: 50 } },
      ...{ responses: { max_output_tokens: 50 }, azure: { max_output_tokens: 50 } },
      ...{ google: { generationConfig: { maxOutputTokens: 50 } }, vertex: { generationConfig: { maxOutputTokens: 50 } } },
      bedrock: { inferenceConfig: { maxTokens: 50 } },
    },
  ],
  [
    { body: { extra: { a: 1 } } },
    {
      anthropic: { extra: { a: 1 } },
      chat: { extra: { a: 1 } },
      responses: { extra: { a: 1 } },
      google: { extra: { a: 1 } },
      azure: { extra: { a: 1 } },
      vertex: { extra: { a: 1 } },
      bedrock: { extra: { a: 1 } },
    },
  ],
]

describe('settings in each protocol', () => {
  const rows = mapping.flatMap(([settings, wires]) => Object.entries(wires).map(([wire, sent]) => ({ settings, wire: wire as Wire, sent })))
  it.each(rows.map((row) => [JSON.stringify(row.settings), row.wire, row] as const))(
    'sends %s in the format of %s',
    async (_name, wire, { settings, sent }) => {
      const { body, warnings } = await encoded(models[wire], settings)
      if (sent !== undefined) {
        expect(JSON.parse(body)).toMatchObject(sent)
        return
      }
      const [name = ''] = Object.keys(settings)
      expect(warnings.filter((warning) => warning.startsWith(`${name} left out`))).toHaveLength(1)
      const { body: without } = await encoded(models[wire], { ...settings, [name]: undefined })
      expect(JSON.parse(body)).toEqual(JSON.parse(without))
      const strictly = encoded(models[wire], { ...settings, strict: true })
      await expect(strictly).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining(`${name} left out`) })
    },
  )

  it('tests each setting for each protocol', () => {
    const protocols: readonly Wire[] = ['anthropic', 'chat', 'responses', 'azure', 'google', 'vertex', 'bedrock']
    // Those that no codec writes: what is left out, and which headers go along.
    const beside = new Set<SettingName>(['headers', 'requireMedia', 'strict'])
    const seen = new Set(rows.map(({ settings, wire }) => `${Object.keys(settings)[0]} ${wire}`))
    const wanted = settingNames.filter((name) => !beside.has(name)).flatMap((name) => protocols.map((wire) => `${name} ${wire}`))
    expect(wanted.filter((pair) => !seen.has(pair))).toEqual([])
  })

  it('omits the other tools if the provider supports no subsets', async () => {
    const { body } = await encoded(models.anthropic, { toolChoice: { allowed: ['sub'] } })
    expect(JSON.parse(body).tools.map(({ name }: { name: string }) => name)).toEqual(['sub'])
  })

  it('sends the tier to Vertex AI in a header', async () => {
    const { headers, body } = await encoded(models.vertex, { serviceTier: 'flex' })
    expect(headers['x-vertex-ai-llm-shared-request-type']).toBe('flex')
    expect(body).not.toContain('serviceTier')
  })

  it.each(['anthropic', 'bedrock'] as const)('uses one lifetime for all cache breakpoints, %s', async (wire) => {
    const { body } = await encoded(
      models[wire],
      { cacheTtl: '1h' },
      { cache: { type: 'auto' }, systemPrompt: 'S', messages: [userMessage('a'), userMessage('b')] },
    )
    const marks = body.match(/"cache_control":\{[^}]*\}|"cachePoint":\{[^}]*\}/g) ?? []
    expect(marks.length).toBeGreaterThan(1)
    expect(marks.every((mark) => mark.includes('"ttl":"1h"'))).toBe(true)
  })
})
