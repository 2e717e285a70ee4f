import { ConfigError } from '../../../../src/index.ts'
import { isMode, permissionModes } from '../permissions/permissions.ts'
import { wordsOf } from '../permissions/rule.ts'
import type { Command } from './command.ts'

/** `/permissions`: the mode, and what is always allowed. */
export const permissions: Command = {
  argument: '[MODE|remove N]',
  help: 'what runs without a question; a mode, or remove a rule',
  isAnytime: true,
  run({ assistant: { permissions: held }, screen }, argument) {
    const { paint, plain } = screen.paint
    const [, number] = /^remove\s+(\d{1,3})$/.exec(argument) ?? []
    if (number !== undefined) {
      if (held.list()[Number(number) - 1] === undefined)
        throw new ConfigError('invalidOption', `There is no rule ${number}; /permissions lists them.`)
      held.remove(Number(number) - 1)
    } else if (isMode(argument)) held.mode = argument
    else if (argument !== '')
      throw new ConfigError('invalidOption', `"${argument}" is no mode. Known: ${permissionModes.join(', ')}; or remove N.`)
    screen.line(plain(`  mode ${held.mode}; Shift-Tab changes it`))
    for (const [at, { rule, scope }] of held.list().entries()) {
      screen.line(plain(`  ${String(at + 1).padStart(2)}  ${wordsOf(rule)}  (${scope === 'session' ? 'this session' : 'this folder'})`))
    }
    if (held.list().length === 0) screen.line(paint('dim', '  nothing is always allowed'))
  },
}
