import type { Command } from './command.ts'

/** `/open`: this session in a page; both go on with it. */
export const open: Command = {
  argument: '',
  help: 'go on in a page on this machine as well, with this session',
  isAnytime: true,
  async run({ assistant, screen }) {
    if (assistant.served === undefined) {
      const { serveAgent } = await import('../serve/serve-agent.ts')
      assistant.served = await serveAgent(assistant, { port: 0, logger: silent })
      await assistant.served.share(assistant.agent)
    }
    screen.line(screen.paint.plain(`  ${assistant.served.link(assistant.agent.sessionId)}`))
    screen.say(
      'dim',
      '  Open it in a browser on this machine; whoever has the link may do what you may. What is said there is said here too.',
    )
  },
}

const silent = { warn: () => undefined }
