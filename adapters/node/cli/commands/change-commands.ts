import { lastSaidAt } from '../../../../src/contract/message/message.ts'
import { ConfigError, textOf } from '../../../../src/index.ts'
import { mostLines, showChange } from '../questions/change-question.ts'
import type { Command } from './command.ts'

/** `/diff`: what tools have changed in this session. */
export const diff: Command = {
  argument: '[FILE]',
  help: 'what was changed in this session',
  isAnytime: true,
  async run({ assistant: { snapshots }, screen }, wanted) {
    const { paint } = screen.paint
    const files = (await snapshots.touched()).filter(({ path }) => wanted === '' || path === wanted)
    let shown = 0
    for (const { path, before, now } of files) {
      if (now === undefined) screen.line(paint('yellow', `  ${path} cannot be read`))
      else if (now === null && before !== null) screen.line(paint('yellow', `  ${path} is gone`))
      else if (now !== null && !(before !== null && Buffer.from(before).equals(now))) {
        showChange({ path, after: decoded(now), ...(before !== null && { before: decoded(before) }) }, screen, mostLines)
      } else continue
      shown += 1
    }
    if (shown === 0) screen.line(paint('dim', '  nothing; what commands have changed is not known here'))
  },
}

const decoded = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** `/undo`: takes back what was said last, and what tools changed after it. */
export const undo: Command = {
  argument: '',
  help: 'take back what you said last, and the files changed for it',
  isAnytime: false,
  async run(host) {
    const { screen, meter } = host
    const { agent, snapshots } = host.assistant
    const { paint, plain } = screen.paint
    const at = lastSaidAt(agent.messages)
    const said = agent.messages[at]
    if (said?.role !== 'user') throw new ConfigError('invalidOption', 'There is nothing to take back.')
    const after = agent.messages.slice(at)
    const { files, notes } = await snapshots.takeBack(at, AbortSignal.timeout(60_000))
    agent.replaceMessages(agent.messages.slice(0, at))
    meter.tookBack(agent)
    screen.line(plain(`  taken back: ${after.length} messages${files.length === 0 ? '' : `; as before: ${files.join(', ')}`}`))
    for (const note of notes) screen.line(paint('yellow', `  ${note}`))
    const ran = after.some(
      (message) => message.role === 'assistant' && message.content.some((block) => block.type === 'toolCall' && block.name === 'bash'),
    )
    if (ran) screen.line(paint('yellow', '  Commands were run as well: what they did is not taken back.'))
    host.giveBack(textOf(said.content))
  },
}
