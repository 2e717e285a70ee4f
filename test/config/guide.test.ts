import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { agentsFromConfig, parseConfig } from '../../src/config.ts'
import { ConfigError, memorySessionStore } from '../../src/index.ts'
import { loadSkills, memoryWorkspace } from '../../src/tools.ts'
import { toolsNamed } from '../support/agent-files.ts'

const guide = '../shared/spec/18-configuration-guide.md'
const isThere = existsSync(guide)
if (!isThere) console.warn('SKIPPED: the examples of the configuration guide, because ../shared/spec is absent')

/** Runs of lines that are TOML. Lines that a JSON, YAML or Rust example has are none. */
function examplesIn(text: string): string[] {
  const found: string[] = []
  let lines: string[] = []
  for (const line of [...text.split('\n'), 'end']) {
    if (/^(\[\[?[\w.]+\]\]?\s*(#.*)?|"?[\w-]+"?\s*=\s.*|#\s.*|)$/.test(line)) lines.push(line)
    else {
      if (lines.some((each) => each.includes('='))) found.push(...apart(lines.join('\n').trim()))
      lines = []
    }
  }
  return found
}

/** Two examples that show a mistake and its cure are two files. */
function apart(example: string): string[] {
  const [wrong, right] = example.split('# Correct')
  return right === undefined ? [example] : [wrong ?? '', `#${right}`]
}

const examples = isThere ? examplesIn(readFileSync(guide, 'utf8')) : []

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n`
const workspace = memoryWorkspace({
  'system_prompt.md': 'A prompt.',
  'prompts/coding_instructions.md': 'Instructions.',
  'prompts/coder.md': 'A coder.',
  'prompts/reviewer.md': 'A reviewer.',
  'skills/code-review/SKILL.md': skill('code-review'),
  'skills/debugging/SKILL.md': skill('debugging'),
})
const names = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GOOGLE_API_KEY', 'ENVIRONMENT', 'CUSTOM_TOKEN']
const env = { ...Object.fromEntries(names.map((name) => [name, 'x'])), CUSTOM_API_URL: 'https://proxy.test' }

/** What the guide takes for granted where an example shows one section alone. */
const rest = {
  provider: { model: 'm', api_key: 'k', instances: [{ id: '{{openai}}', model: 'o', api_key: 'k' }] },
  profile: { instances: [{ id: '{{reviewer}}' }] },
  compaction: { max_context_tokens: 1000, instances: [{ id: '{{coding}}' }] },
}

async function outcomeOf(example: string): Promise<string> {
  const { config } = await parseConfig(example, 'toml')
  const whole = {
    compaction: rest.compaction,
    ...config,
    provider: { ...rest.provider, ...config.provider },
    agent: { ...config.agent, profile: { ...rest.profile, ...config.agent?.profile } },
  }
  try {
    const agents = await agentsFromConfig(whole, {
      env,
      workspace: () => workspace,
      trust: true,
      skills: await loadSkills(workspace, ['skills']),
      sessions: memorySessionStore(),
      tools: toolsNamed('bash', 'read_file', 'write_file', 'edit_file', 'list_files', 'search', 'web_search'),
      readFile: async () => 'From outside.',
      scriptHooks: () => ({}),
    })
    return `${agents.size} made`
  } catch (error) {
    if (ConfigError.isInstance(error)) return `${error.code} ${error.field}`
    throw error
  }
}

describe.skipIf(!isThere)('every example of the configuration guide', () => {
  it('builds every example of the guide or rejects it for a documented reason', async () => {
    expect(examples.length).toBeGreaterThan(30)
    const outcomes = await Promise.all(examples.map(outcomeOf))
    const refused = examples.flatMap((example, at) =>
      outcomes[at]?.endsWith('made') === true ? [] : [[example.split('\n')[0], outcomes[at]]],
    )
    // Scripts around a task, which a store runs. The guide itself calls the second one wrong: its key would go to another vendor.
    expect(refused).toEqual([
      ['[callbacks]', 'unsupported callbacks.before_task'],
      ['# Wrong — defaults to anthropic_messages, fails at runtime', 'invalidField provider.model'],
    ])
  })

  it('warns only about settings that the guide documents as mistakes', async () => {
    const warnings = await Promise.all(examples.map(async (example) => (await parseConfig(example, 'toml')).warnings))
    const fields = warnings.flat().map(({ code, field }) => `${code} ${field}`)
    expect(new Set(fields)).toEqual(
      new Set([
        'noEffect provider.model',
        'noEffect provider.instances[0].model',
        'noEffect execution.max_cost',
        'noEffect tools.batch_size',
      ]),
    )
  })
})
