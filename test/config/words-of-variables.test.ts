import { describe, expect, it } from 'vitest'
import { agentOf, provider, refusal } from '../support/agent-files.ts'

const sections: Record<string, string> = {
  'provider.compat.max_tokens_field': `[provider]\nmodel = "m"\napi = "openai"\napi_key = "k"\n[provider.compat]\nmax_tokens_field = "\${WORD}"`,
  'client_tools.instances[0].trust': `${provider}[[client_tools.instances]]\nname = "a"\ndescription = "b"\nparameters = {}\ntrust = "\${WORD}"`,
  'execution.cache.strategy': `${provider}[execution.cache]\nstrategy = "\${WORD}"`,
  'agent.profile.service_tier': `${provider}[agent.profile]\nservice_tier = "\${WORD}"`,
  'session.scope': `${provider}[session]\nscope = "\${WORD}"`,
  'sub_agents.instances[0].priority': `${provider}[[sub_agents.instances]]\nname = "a"\ndescription = "b"\npriority = "\${WORD}"`,
}

describe('enum values from variables', () => {
  it.each(Object.entries(sections))('rejects an invalid value at %s', async (field, text) => {
    const host = { env: { WORD: 'nonsense' }, trust: true }
    expect(await refusal(text, host)).toMatchObject({
      code: 'invalidField',
      field,
      expected: expect.stringContaining('"'),
    })
  })

  it('accepts any letter case, in file and option spelling', async () => {
    const host = { env: { WORD: 'Max_Completion_Tokens' }, trust: true }
    const { settings } = await agentOf(sections['provider.compat.max_tokens_field'] ?? '', host)
    expect(settings.model.config.compat?.maxTokensField).toBe('maxCompletionTokens')
  })
})
