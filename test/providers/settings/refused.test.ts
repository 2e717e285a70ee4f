import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RequestSettings } from '../../../src/contract/model/request-settings.ts'
import { Agent, type AgentOptions, type Model } from '../../../src/index.ts'
import type { Wire } from '../../harness/fixture-model.ts'
import { fastRetry } from '../../support/play.ts'
import { type WireReply, WireServer } from '../../support/wire-server.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

const fine: WireReply = { turn: { text: ['ok'] } }
const refusal = (error: object | string, status = 400): WireReply => ({
  status,
  body: typeof error === 'string' ? error : JSON.stringify(error),
})
const openAi = (message: string, param: string | null, code = 'unsupported_parameter') =>
  refusal({ error: { message, type: 'invalid_request_error', param, code } })
const claude = (message: string) => refusal({ type: 'error', error: { type: 'invalid_request_error', message } })
const gemini = (message: string) => refusal({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
const aws = (message: string) => refusal({ message })

/**
 * Error messages that users of the providers reported. Our tables allow every setting here for its model.
 *
 * - OpenAI: https://github.com/appatalks/eva-agent/issues/83, https://github.com/QwenLM/qwen-code/issues/921
 * - Anthropic: https://github.com/infiniflow/ragflow/issues/11815, on Bedrock: https://github.com/BerriAI/litellm/issues/15070
 * - Gemini: https://github.com/google-gemini/cookbook/issues/1290, https://github.com/MinLL/SkyrimNet-GamePlugin/issues/77
 * - Bedrock: https://github.com/langgenius/dify-official-plugins/issues/1767, https://github.com/langchain-ai/langchain-aws/issues/62
 */
const table: [what: string, wire: Wire, settings: RequestSettings, said: WireReply, left: string[], fields: string[]][] = [
  [
    'OpenAI parameter',
    'openai',
    { temperature: 0.2, topP: 0.5 },
    openAi("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'),
    ['temperature'],
    ['temperature'],
  ],
  [
    'OpenAI error without param',
    'openai',
    { stopSequences: ['x'] },
    openAi("Unsupported parameter: 'stop' is not supported with this model.", null),
    ['stopSequences'],
    ['stop'],
  ],
  [
    'OpenAI value',
    'openai',
    { temperature: 0.2 },
    openAi(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ),
    ['temperature'],
    ['temperature'],
  ],
  [
    'Responses parameter',
    'openai-responses',
    { verbosity: 'low' },
    openAi("Unsupported parameter: 'text.verbosity' is not supported with this model.", 'text.verbosity'),
    ['verbosity'],
    ['verbosity'],
  ],
  [
    'Responses service tier',
    'openai-responses',
    { serviceTier: 'flex' },
    openAi("Unsupported value: 'service_tier' does not support 'flex' with this model.", 'service_tier', 'unsupported_value'),
    ['serviceTier'],
    ['service_tier'],
  ],
  ['two Anthropic settings', 'anthropic', { topK: 5, user: 'u' }, claude('top_k: Extra inputs are not permitted'), ['topK'], ['top_k']],
  [
    'Anthropic field',
    'anthropic',
    { temperature: 0.3 },
    claude('`temperature` is deprecated for this model.'),
    ['temperature'],
    ['temperature'],
  ],
  [
    'Gemini penalties',
    'google',
    { seed: 7, topP: 0.5, topK: 3 },
    gemini('Invalid JSON payload received. Unknown name "topK" at \'generation_config\': Cannot find field.'),
    ['topK'],
    ['topK'],
  ],
  [
    'Bedrock stop sequences',
    'bedrock',
    { stopSequences: ['x'], temperature: 0.5 },
    aws("This model doesn't support the stopSequences field. Remove stopSequences and try again."),
    ['stopSequences'],
    ['stopSequences'],
  ],
  [
    'Bedrock key',
    'bedrock',
    { topK: 5 },
    aws(
      'The model returned the following errors: Malformed input request: #: extraneous key [top_k] is not permitted, please reformat your input and try again.',
    ),
    ['topK'],
    ['top_k'],
  ],
  [
    'Mistral with status 422',
    'openai',
    { seed: 7 },
    refusal({ detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', input: 7 }] }, 422),
    ['seed'],
    ['"seed"'],
  ],
]

async function asked(model: Model, settings: RequestSettings, options: Partial<AgentOptions> = {}) {
  const warnings: string[] = []
  const logger = { warn: (event: string, fields: object) => warnings.push(`${event} ${'message' in fields ? fields.message : ''}`) }
  const agent = new Agent({ model, retry: fastRetry, logger, ...settings, ...options })
  return { result: await agent.prompt('go').result, warnings }
}

describe('a setting that a provider rejects by name', () => {
  it.each(table)('omits a rejected setting with one warning and remembers it: %s', async (_, wire, settings, said, left, fields) => {
    const { model, sent } = server.service(wire, said, fine)
    const one = model()
    const first = await asked(one, settings)
    expect(first.result).toMatchObject({ status: 'completed', text: 'ok' })
    expect(sent).toHaveLength(2)
    const [before, after] = sent.map((body) => JSON.stringify(body))
    for (const field of fields) {
      expect(before).toContain(field)
      expect(after).not.toContain(field)
    }
    expect(first.warnings).toEqual(left.map((name) => expect.stringContaining(`${name} left out: ${one.config.id} has refused it`)))
    const second = await asked(one, settings)
    expect(second.result.status).toBe('completed')
    expect(sent).toHaveLength(3)
    expect(JSON.stringify(sent[2])).toBe(after)
    expect(second.warnings).toEqual(first.warnings)
  })

  it('rejects a setting with strict, now and later', async () => {
    const { model, sent } = server.service(
      'openai',
      openAi("Unsupported parameter: 'top_p' is not supported with this model.", 'top_p'),
      fine,
    )
    const one = model()
    for (const _ of [1, 2]) {
      const { result } = await asked(one, { topP: 0.5, strict: true })
      expect(result).toMatchObject({ status: 'error', error: { code: 'unsupported', message: expect.stringContaining('topP left out') } })
    }
    expect(sent).toHaveLength(1)
  })

  it('omits several settings one by one, and keeps one of an exclusive pair', async () => {
    const two = server.service('openai', openAi("'seed' is not supported", 'seed'), openAi("'top_p' is not supported", 'top_p'), fine)
    const several = await asked(two.model(), { seed: 1, topP: 0.5, temperature: 0.5 })
    expect(several.result.status).toBe('completed')
    expect(several.warnings).toHaveLength(2)
    expect(two.sent[2]).not.toHaveProperty('seed')
    expect(two.sent[2]).toMatchObject({ temperature: 0.5 })
    const both = openAi('`temperature` and `top_p` cannot both be specified for this model. Please use only one.', null)
    const { model, sent } = server.service('openai', both, fine)
    const one = model()
    expect((await asked(one, { topP: 0.5, temperature: 0.5 })).result.status).toBe('completed')
    expect(sent[1]).toMatchObject({ temperature: 0.5 })
    expect(sent[1]).not.toHaveProperty('top_p')
    await asked(one, { topP: 0.5 })
    expect(sent[2]).toMatchObject({ top_p: 0.5 })
  })

  it('omits both penalties if the provider names neither', async () => {
    const { model, sent } = server.service('openai', gemini('Penalty is not enabled for this model'), fine)
    const { result } = await asked(model(), { frequencyPenalty: 1, presencePenalty: 1 })
    expect(result.status).toBe('completed')
    expect(JSON.stringify(sent[1])).not.toContain('penalty')
  })

  it('keeps sending another value, and the setting to another model', async () => {
    const said = openAi("Unsupported value: 'service_tier' does not support 'flex'.", 'service_tier', 'unsupported_value')
    const { model, sent } = server.service('openai', said, fine)
    const one = model()
    await asked(one, { serviceTier: 'flex' })
    await asked(one, { serviceTier: 'priority' })
    await asked(model('gpt-4o-other'), { serviceTier: 'flex' })
    expect(sent.slice(2).map((body) => body.service_tier)).toEqual(['priority', 'flex'])
  })

  it.each<[string, RequestSettings, WireReply]>([
    ['a setting that the request did not contain', { topP: 0.5 }, openAi("'temperature' is not supported with this model.", 'temperature')],
    [
      'a message role',
      { user: 'u' },
      openAi("Unsupported value: 'messages[0].role' does not support 'user' with this model.", 'messages[0].role'),
    ],
    [
      'a tool property',
      { seed: 1 },
      gemini('Invalid JSON payload received. Unknown name "seed" at \'tools[0].function_declarations[0].parameters\': Cannot find field.'),
    ],
    ['a tool by its index', { topP: 0.1 }, claude('tools.0.custom.top_p: Extra inputs are not permitted')],
    ['the model', { seed: 1 }, openAi("The requested model 'seed' does not exist.", 'model', 'model_not_found')],
    ['a value out of range', { topP: 1 }, openAi('top_p must be below 1', 'top_p', 'invalid_value')],
    ['the output length', { maxTokens: 5 }, openAi("Unsupported parameter: 'max_tokens' is not supported with this model.", 'max_tokens')],
    ['a field of `body`', { body: { top_p: 0.5 } }, openAi("'top_p' is not supported", 'top_p')],
    ['a tool choice', { toolChoice: 'none' }, openAi("'tool_choice' is not supported", 'tool_choice')],
    ['an empty message', { seed: 1 }, refusal('')],
  ])('keeps the original error: %s', async (_, settings, said) => {
    const { model, sent } = server.service('openai', said, fine)
    const { result } = await asked(model(), settings)
    expect(result).toMatchObject({ status: 'error', error: { code: 'api' } })
    expect(sent).toHaveLength(1)
  })

  it('stops after it omitted each setting once', async () => {
    const said = openAi('temperature, top_p and seed are not supported', null)
    const { model, sent } = server.service('openai', said)
    const { result } = await asked(model(), { temperature: 0.5, topP: 0.5 })
    expect(result.status).toBe('error')
    expect(sent).toHaveLength(2)
  })
})
