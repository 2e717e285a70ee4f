import { expect, it } from 'vitest'
import { environment, piped } from './command.ts'
import { modelServer } from './model-server.ts'

it('applies the provider timeout in the environment and reports it', async () => {
  const { env } = await modelServer(() => new Promise(() => undefined))
  const waiting = environment({ ...env, PHI_FIRST_BYTE_TIMEOUT_MS: '30' })
  const { code, stderr } = await piped(['--model', 'openai/test', '-p', 'hi'], { env: waiting })
  expect(code).not.toBe(0)
  expect(stderr).toContain('(firstByteTimeoutMs)')
})

it.each([
  ['PHI_FIRST_BYTE_TIMEOUT_MS', '0'],
  ['PHI_IDLE_TIMEOUT_MS', 'soon'],
  ['PHI_PROGRESS_TIMEOUT_MS', '-1'],
])('rejects the invalid timeout %s=%s', async (variable, value) => {
  const { code, stderr } = await piped(['--model', 'openai/test', '-p', 'hi'], {
    env: environment({ OPENAI_API_KEY: 'k', [variable]: value }),
  })
  expect(code).toBe(2)
  expect(stderr).toContain(`${variable} is "${value}"; it must be a number of milliseconds, or none.`)
})

it('accepts none to disable a timeout', async () => {
  const { env } = await modelServer(() => ({ text: ['Here.'] }))
  const none = { PHI_FIRST_BYTE_TIMEOUT_MS: 'none', PHI_IDLE_TIMEOUT_MS: 'none', PHI_PROGRESS_TIMEOUT_MS: 'none' }
  expect((await piped(['--model', 'openai/test', '-p', 'hi'], { env: environment({ ...env, ...none }) })).stdout).toBe('Here.\n')
})
