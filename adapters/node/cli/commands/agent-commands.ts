import { cacheHitRate } from '../../../../src/context.ts'
import { hasRates } from '../../../../src/contract/model/usage.ts'
import { type Agent, ConfigError, type Model } from '../../../../src/index.ts'
import { modelFromEnv } from '../../../env/index.ts'
import { isLevel, levels } from '../assistant/assistant.ts'
import { type KnownModel, knownModels } from '../models/known-models.ts'
import { isMode, permissionModes } from '../permissions/permissions.ts'
import { wordsOf } from '../permissions/rule.ts'
import { shortCount } from '../repl/meter.ts'
import { cutTo } from '../terminal/text-width.ts'
import type { Command } from './command.ts'

/** `/model`: shows or changes the model. */
export const model: Command = {
  argument: '[MODEL]',
  help: 'show or change the model: its name, its number in /models, or part of its name',
  isAnytime: false,
  async run({ assistant: { agent }, screen }, wanted) {
    if (wanted !== '') agent.configure({ model: choicesOf(agent).get(wanted) ?? (await modelFromEnv(await nameOf(wanted))) })
    const { config } = agent.settings.model
    const { provider, id, contextWindow, cost } = config
    const prices = hasRates(config) ? `$${cost.inputPerMillion} in, $${cost.outputPerMillion} out per million tokens` : 'prices unknown'
    screen.line(screen.paint.plain(`  ${provider}/${id}, ${shortCount(contextWindow)} tokens of context, ${prices}`))
  },
}

/** Returns the models in the agent file. */
function choicesOf({ settings }: Agent): ReadonlyMap<string, Model> {
  return new Map(Object.entries(settings.choices?.models ?? {}))
}

/** The last list of `/models`, for selection by number. */
let listed: readonly KnownModel[] = []

/** Maximum models in a list. */
const mostModels = 30

/** `/models`: lists the available models. */
export const models: Command = {
  argument: '[TEXT]',
  help: 'list available models with context window and prices',
  isAnytime: true,
  async run({ assistant: { agent }, screen }, filter) {
    listed = await knownModels(filter)
    const { plain } = screen.paint
    for (const [name, { config }] of choicesOf(agent))
      screen.line(cutTo(plain(`       ${name.padEnd(40)} ${config.provider}/${config.id}`), screen.width))
    for (const [at, { name, facts }] of listed.slice(0, mostModels).entries()) {
      screen.line(cutTo(plain(`  ${String(at + 1).padStart(3)}  ${name.padEnd(40)} ${facts}`), screen.width))
    }
    if (listed.length > mostModels) screen.say('dim', `  … ${listed.length - mostModels} more; /models TEXT filters by name`)
    if (listed.length === 0) screen.say('dim', '  none; run phi doctor to check your setup')
  },
}

/** Resolves a model name, a number in the list, or a unique part of a name. */
async function nameOf(wanted: string): Promise<string> {
  if (/^\d{1,3}$/.test(wanted)) {
    const found = listed[Number(wanted) - 1]
    if (found === undefined) throw new ConfigError('invalidOption', `Model ${wanted} is not in the list. /models shows the list.`)
    return found.name
  }
  if (wanted.includes('/')) return wanted
  const found = await knownModels(wanted)
  const [first, ...others] = found
  if (first === undefined) return wanted
  const exact = found.find(({ name }) => name.endsWith(`/${wanted}`))
  if (exact === undefined && others.length > 0)
    throw new ConfigError('invalidOption', `${found.length} model names contain "${wanted}". /models ${wanted} lists them.`)
  return (exact ?? first).name
}

/** `/thinking`: shows or changes the thinking level. */
export const thinking: Command = {
  argument: '[LEVEL]',
  help: levels.join(', '),
  isAnytime: false,
  run({ assistant: { agent }, screen }, level) {
    if (level !== '' && !isLevel(level))
      throw new ConfigError('invalidOption', `"${level}" is not a thinking level. Use one of: ${levels.join(', ')}.`)
    if (isLevel(level)) agent.configure({ thinking: level })
    screen.line(screen.paint.plain(`  thinking: ${agent.settings.thinking ?? agent.settings.model.config.settings?.thinking ?? 'off'}`))
  },
}

/** `/tools`: lists tools, and which of them need approval. */
export const tools: Command = {
  argument: '',
  help: 'list the tools of the agent',
  isAnytime: true,
  run({ assistant: { agent }, screen }) {
    const { plain, paint } = screen.paint
    if (agent.settings.tools.length === 0) screen.line(paint('dim', '  none'))
    for (const { name, description, needsApproval } of agent.settings.tools) {
      const asks = needsApproval !== undefined && needsApproval !== false ? ' needs approval' : ''
      const line = plain(`  ${name.padEnd(14)}${asks.padEnd(12)} ${description.split('\n', 1)[0] ?? ''}`)
      screen.line(cutTo(line, screen.width))
    }
  },
}

/** `/skills`: lists skills, and skills that failed to load. */
export const skills: Command = {
  argument: '',
  help: 'list the skills of the agent',
  isAnytime: true,
  run({ assistant: { agent }, screen }) {
    const { plain, paint } = screen.paint
    const { skills: known = [], warnings = [], errors = [] } = agent.settings.skills ?? {}
    if (known.length === 0) screen.line(paint('dim', '  none'))
    for (const { name, description, source } of known) {
      screen.line(cutTo(plain(`  ${name.padEnd(20)} ${description.replace(/\s+/g, ' ')}  (${source})`), screen.width))
    }
    for (const { message } of [...errors, ...warnings]) screen.line(paint('yellow', `  ${message}`))
  },
}

/** `/mcp`: lists MCP servers and their tools. */
export const mcp: Command = {
  argument: '',
  help: 'list MCP servers and their tools',
  isAnytime: true,
  run({ assistant: { agent, servers }, screen }) {
    const { plain, paint } = screen.paint
    if (servers.servers.length === 0) screen.line(paint('dim', '  none; add servers in an agent file: phi --config agent.toml'))
    for (const server of servers.servers) {
      const own = agent.settings.tools.filter(({ name }) => name.startsWith(`${server}__`)).map(({ name }) => name)
      screen.line(plain(`  ${server}: ${own.join(', ') || 'no tools'}`))
    }
  },
}

/** `/usage`: shows the session's tokens, cost and context use. */
export const usage: Command = {
  argument: '',
  help: 'show tokens, cost and context use',
  isAnytime: true,
  run({ assistant: { agent }, meter, screen }) {
    const { plain } = screen.paint
    const { usage: used } = meter
    const { contextWindow, cost } = agent.settings.model.config
    const rows = [
      ['input', used.input],
      ['from cache', used.cacheRead],
      ['to cache', used.cacheWrite],
      ['output', used.output],
      ['total', used.totalTokens],
    ] as const
    for (const [name, count] of rows) screen.line(plain(`  ${name.padEnd(12)} ${count.toLocaleString('en').padStart(12)} tokens`))
    const share = Math.round((100 * meter.context) / Math.max(1, contextWindow))
    screen.line(
      plain(
        `  ${'context'.padEnd(12)} ${meter.context.toLocaleString('en').padStart(12)} tokens, ${share}% of ${shortCount(contextWindow)}`,
      ),
    )
    const hits = Math.round(100 * cacheHitRate(used))
    screen.line(
      plain(
        `  ${'cost'.padEnd(12)} ${(meter.cost(cost) ?? 'unknown').padStart(12)}${hits > 0 ? `, ${hits}% of the input from the cache` : ''}`,
      ),
    )
  },
}

/** `/compact`: compacts the conversation. */
export const compact: Command = {
  argument: '[FOCUS]',
  help: 'compact the conversation, keeping FOCUS',
  isAnytime: false,
  run(host, focusMessage) {
    const { agent } = host.assistant
    if (agent.messages.length === 0) throw new ConfigError('invalidOption', 'There is nothing to compact yet.')
    host.begin(agent.compact(focusMessage === '' ? {} : { focusMessage }))
  },
}

/** `/permissions`: shows or changes the approval mode and the rules. */
export const permissions: Command = {
  argument: '[MODE|remove N]',
  help: 'show or change what runs without approval',
  isAnytime: true,
  run({ assistant: { permissions: held }, screen }, argument) {
    const { paint, plain } = screen.paint
    const [, number] = /^remove\s+(\d{1,3})$/.exec(argument) ?? []
    if (number !== undefined) {
      if (held.list()[Number(number) - 1] === undefined)
        throw new ConfigError('invalidOption', `Rule ${number} does not exist. /permissions lists the rules.`)
      held.remove(Number(number) - 1)
    } else if (isMode(argument)) held.mode = argument
    else if (argument !== '')
      throw new ConfigError('invalidOption', `"${argument}" is not a mode. Use one of: ${permissionModes.join(', ')}; or remove N.`)
    screen.line(plain(`  mode ${held.mode}; Shift-Tab changes it`))
    for (const [at, { rule, scope }] of held.list().entries()) {
      screen.line(plain(`  ${String(at + 1).padStart(2)}  ${wordsOf(rule)}  (${scope === 'session' ? 'this session' : 'this folder'})`))
    }
    if (held.list().length === 0) screen.line(paint('dim', '  no rules'))
  },
}
