import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import {
  type McpAppCallState,
  type McpAppFrame,
  type McpAppHost,
  type McpAppServer,
  mountMcpApp,
} from '../../../adapters/mcp/apps/index.ts'
import { escapeControls, type ToolView } from '../../../src/store.ts'
import { errorText } from '../parts/error-text.ts'
import { scrollable } from '../parts/scrollable.ts'
import { isDark } from '../state/theme.ts'
import type { Decisions } from '../tools/decisions.ts'
import { type AppQuestion, appHost } from './app-host.ts'
import '../styles/conversation/mcp-app.css'

interface McpAppProps {
  server: McpAppServer
  tool: ToolView
  argumentsText: string
  decisions: Decisions | undefined
}

/** The app of a tool call in its frame, with its open questions. */
export function McpApp({ server, tool, argumentsText, decisions }: McpAppProps) {
  const place = useRef<HTMLDivElement>(null)
  const asked = useSignal<readonly AppQuestion[]>([])
  const fault = useSignal('')
  const onEnd = (reason: string) => {
    fault.value = reason
  }
  const domains = useFrame(place, server, {
    call: callOf(tool, argumentsText),
    host: appHost(asked, { onDraft: (text) => decisions?.draft.giveBack(text, []), onEnd }),
    onFault: onEnd,
  })
  return (
    <div class="mcp-app" data-testid="mcp-app">
      <p class="tool-label">App of the MCP server{domains.value !== '' && `. It may connect to ${domains.value}`}</p>
      <div class="mcp-app-frame" ref={place} />
      {fault.value !== '' && (
        <p class="risk" role="alert">
          {escapeControls(fault.value)}
        </p>
      )}
      {asked.value.map((each) => (
        <AppQuestionCard key={each} {...each} />
      ))}
    </div>
  )
}

interface FrameOptions {
  call: McpAppCallState
  host: McpAppHost
  onFault: (why: string) => void
}

/** Reads and mounts the app, and tells it what changes. Returns the domains that it may use. */
function useFrame(place: RefObject<HTMLDivElement | null>, server: McpAppServer, options: FrameOptions): Signal<string> {
  const frame = useRef<McpAppFrame | undefined>(undefined)
  const domains = useSignal('')
  const latest = useRef(options)
  latest.current = options
  useEffect(() => {
    const stop = new AbortController()
    const show = async () => {
      const resource = await server.read({ signal: stop.signal })
      if (place.current === null || stop.signal.aborted) return
      const { call, host } = latest.current
      const title = `App of ${server.tool.title ?? server.tool.name}`
      frame.current = mountMcpApp(place.current, {
        server,
        resource,
        call,
        host,
        title,
        page: 'mcp-app.html',
        context: themeOf(isDark.value),
      })
      domains.value = frame.current.domains.join(', ')
    }
    show().catch((error: unknown) => stop.signal.aborted || latest.current.onFault(errorText(error)))
    const stopTheme = isDark.subscribe((dark) => frame.current?.setContext(themeOf(dark)))
    return () => {
      stop.abort()
      stopTheme()
      void frame.current?.close()
      frame.current = undefined
    }
  }, [server])
  useEffect(() => frame.current?.update(options.call))
  return domains
}

const themeOf = (dark: boolean) => ({ theme: dark ? ('dark' as const) : ('light' as const) })

function AppQuestionCard({ question, detail, yes, no, decide }: AppQuestion) {
  return (
    <div class="approval" data-testid="app-request">
      <p class="tool-label">{escapeControls(question)}</p>
      <pre {...scrollable}>{escapeControls(detail)}</pre>
      <div class="tool-actions">
        <button type="button" class="primary" onClick={(event) => answer(event, () => decide(true))}>
          {yes}
        </button>
        <button type="button" onClick={(event) => answer(event, () => decide(false))}>
          {no}
        </button>
      </div>
    </div>
  )
}

/** The buttons disappear with the decision: the focus stays at the call. */
function answer({ currentTarget }: { currentTarget: HTMLElement }, act: () => void): void {
  currentTarget.closest('details')?.querySelector('summary')?.focus()
  act()
}

function callOf({ status, args, result, reason }: ToolView, inputText: string): McpAppCallState {
  return {
    status,
    inputText,
    ...(args !== undefined && { input: args }),
    ...(result && { result }),
    ...(reason !== undefined && { reason }),
  }
}
