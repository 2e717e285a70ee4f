import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentFromConfig, type TrustRequest } from 'phi-core/config'
import { loadConfigFile } from 'phi-core/node/config'
import { scripted } from 'phi-core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadedAgent } from '../../examples/recipes/agents/load-agent-file.ts'

function printed(): Promise<{ text: string; code: number | null }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['examples/agent-file/main.ts'], { env: { PATH: process.env.PATH ?? '' } })
    let text = ''
    const collect = (chunk: Buffer) => {
      text += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('close', (code) => resolve({ text, code }))
  })
}

describe('the agent file example', () => {
  it('uses scripted models, a skill, an MCP server and sub-agents', async () => {
    const { text, code } = await printed()
    expect(code, text).toBe(0)
    const [first, ...lines] = text.trim().split('\n')
    expect(first).toMatch(/scripted team/)
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^← read_file: .*One line per change/),
        '← changes__read_text_file: Agents can be described in a file.',
        '← researcher: It says that agents can be described in a file.',
        '← writer: Describe an agent in a file, and run it anywhere.',
      ]),
    )
    expect(lines.at(-1)).toBe('Release notes: describe an agent in a file, and run it anywhere.')
  })

  it('asks for trust once for everything the file requests', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'phi-example-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'agent.toml')
    const prompt = join(folder, 'prompt.md')
    writeFileSync(prompt, 'You are trusted.')
    writeFileSync(file, `[provider]\nmodel = "m"\napi_key = "k"\n[agent]\nsystem_prompt = "file:${prompt}"\n`)
    const asked: (readonly TrustRequest[])[] = []
    const answering = (answer: boolean) => async (requests: readonly TrustRequest[]) => {
      asked.push(requests)
      return answer
    }
    await expect(loadedAgent(file, answering(false))).rejects.toMatchObject({ code: 'untrusted' })
    expect((await loadedAgent(file, answering(true))).settings.systemPrompt).toBe('You are trusted.')
    const wanted = ['the account of the key in the file', prompt]
    expect(asked.map((requests) => requests.map(({ what }) => what))).toEqual([wanted, wanted])
  })

  it('loads a plugin by its path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'phi-example-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync('examples/agent-file/plugins/polite.mjs', join(folder, 'plugins/polite.mjs'))
    writeFileSync(
      join(folder, 'agent.toml'),
      '[provider]\nmodel = "m"\n[agent]\nsystem_prompt = "Help."\nplugins = ["./plugins/polite.mjs"]\n',
    )
    const model = scripted([{ text: 'ok' }])
    const loaded = await loadConfigFile(join(folder, 'agent.toml'), { trust: true, createModel: () => model })
    const agent = await agentFromConfig(loaded.config, loaded.host)
    expect(await agent.prompt('hi').text()).toBe('ok')
    expect(model.provider.requests[0]?.systemPrompt).toBe('Help.\nBe polite.')
    expect(loaded.notRemembered).toEqual([])
  })
})
