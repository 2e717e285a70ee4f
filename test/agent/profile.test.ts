import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AgentProfile, applyProfile, profileDefaults } from '../../src/agent/profile.ts'
import type { AgentOptions } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const coder: AgentProfile = {
  profileId: 'p1',
  name: 'coding-agent',
  description: 'Writes code.',
  systemPrompt: 'You are an engineer.',
  thinking: 'high',
  temperature: 0.2,
  maxTokens: 16384,
  configId: 'coder',
  skills: ['code-review'],
}
const settings = { systemPrompt: 'You are an engineer.', thinking: 'high', temperature: 0.2, maxTokens: 16384, configId: 'coder' }

const profile: fc.Arbitrary<AgentProfile> = fc.record(
  {
    profileId: fc.string(),
    name: fc.string(),
    skills: fc.array(fc.string()),
    systemPrompt: fc.string(),
    thinking: fc.constantFrom('off', 'low', 'high'),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    maxTokens: fc.integer({ min: 1 }),
    configId: fc.string(),
  },
  { requiredKeys: [] },
)

describe('profileDefaults', () => {
  it('returns the settings and no other keys', () => {
    expect(profileDefaults(coder)).toEqual(settings)
    expect(profileDefaults({ name: 'empty', systemPrompt: '' })).toEqual({})
  })
})

describe('applyProfile', () => {
  it('fills in unset options', () => {
    const model = scripted([])
    const options: AgentOptions = applyProfile(coder, { model, thinking: 'off', temperature: 0 } satisfies AgentOptions)
    expect(options).toEqual({ ...settings, model, thinking: 'off', temperature: 0, skills: ['code-review'] })
    expect(options.model).toBe(model)
  })

  it('prefers the first non-empty system prompt', () => {
    expect(applyProfile(coder, { systemPrompt: 'You write Python.' }).systemPrompt).toBe('You write Python.')
    expect(applyProfile(coder, { systemPrompt: '' }).systemPrompt).toBe('You are an engineer.')
    expect(applyProfile({}, { systemPrompt: '' }).systemPrompt).toBe('')
  })

  it('ignores options set to undefined', () => {
    const fromJson: AgentProfile = Object.create(null, { thinking: { value: undefined, enumerable: true } })
    expect(applyProfile(coder, fromJson).thinking).toBe('high')
  })

  it('is idempotent and changes neither argument', () => {
    fc.assert(
      fc.property(profile, profile, (one, two) => {
        const before = JSON.stringify([one, two])
        const merged = applyProfile(one, two)
        expect(JSON.stringify([one, two])).toBe(before)
        expect(applyProfile(one, merged)).toEqual(merged)
        expect(JSON.parse(JSON.stringify(one))).toEqual(one)
      }),
    )
  })
})
