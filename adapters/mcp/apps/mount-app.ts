import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  anObject,
  aPositiveNumber,
  aText,
  either,
  kind,
  listOf,
  oneOf,
  options as optionsOf,
  required,
  withMethods,
} from '../../../src/contract/shape/shape.ts'
import type { McpAppCallState } from '../../../src/mcp/apps/app-call-state.ts'
import type { McpAppContext, McpAppHost } from '../../../src/mcp/apps/app-host.ts'
import { appDocument, appPolicy, approvedDomains } from '../../../src/mcp/apps/app-policy.ts'
import { type McpAppDomains, type McpAppResource, maxHtml } from '../../../src/mcp/apps/app-resource.ts'
import type { McpAppServer } from '../../../src/mcp/apps/app-server.ts'
import { AppSession } from '../../../src/mcp/apps/app-session.ts'

/** Options of `mountMcpApp`: the app, its tool call and its host. */
export interface McpAppOptions {
  /** From `McpToolSet.app`. */
  server: McpAppServer
  /** From `server.read()`. */
  resource: McpAppResource
  /** The tool call that the app shows, such as the tool part of a `Chat`. Default: none yet. */
  call?: McpAppCallState
  /** What the application does for the app. Default: nothing, so calls that need an approval are denied. */
  host?: McpAppHost
  /** Default: the language and time zone of the browser. */
  context?: McpAppContext
  /** Maximum height of the frame in CSS pixels. Default: 600. */
  maxHeight?: number
  /** Name of the frame for screen readers. Default: the title of the tool. */
  title?: string
  /** URL of a page that writes the document, if the policy of your own page forbids inline scripts. Default: none, the frame has `srcdoc`. */
  page?: string | URL
}

/** An element of the page. Declared here, so that projects without browser types can use the package. */
interface ParentElement {
  append(...nodes: (object | string)[]): void
}

/** An app on the page. */
export interface McpAppFrame {
  /** Domains that the app may connect to or load from, to show to the user. */
  readonly domains: readonly string[]
  /** Tells the app the new state of its tool call. */
  update(call: McpAppCallState): void
  /** Tells the app what has changed around it. */
  setContext(context: McpAppContext): void
  /** Gives the app at most 300 ms to end, then removes the frame. */
  close(): Promise<void>
}

const aDomainList = listOf(aText)

const resourceOptions = optionsOf<McpAppResource>({
  html: required(kind(`HTML of at most ${maxHtml} characters`, (value) => typeof value === 'string' && value.length <= maxHtml)),
  csp: optionsOf<McpAppDomains>({
    connectDomains: aDomainList,
    resourceDomains: aDomainList,
    frameDomains: aDomainList,
    baseUriDomains: aDomainList,
  }),
  prefersBorder: aFlag,
})

const appOptions = optionsOf<McpAppOptions>({
  server: required(withMethods('a server, as McpToolSet.app returns', 'read', 'call', 'readResource')),
  resource: required(resourceOptions),
  call: anObject,
  host: optionsOf<McpAppHost>({ approve: aFunction, draft: aFunction, openLink: aFunction, updateContext: aFunction, onEnd: aFunction }),
  context: optionsOf<McpAppContext>({ theme: oneOf('light', 'dark'), locale: aText, timeZone: aText }),
  maxHeight: aPositiveNumber,
  title: aText,
  page: either(
    aText,
    kind('a URL', (value) => value instanceof URL),
  ),
})

/** Milliseconds that an app gets to end. */
const teardownMs = 300

/**
 * Shows an app of an MCP server in a sandboxed frame inside `parent`.
 *
 * **Contract**
 * - The frame has no origin: it reaches neither this page nor its storage. Without approved domains it has no network.
 * - Tool calls of the app need the same approval as calls of the model; see `McpAppServer`.
 * - The app cannot navigate away, and opens no windows.
 * - A frame that breaks a limit is removed, and `host.onEnd` gets the reason.
 * - Throws `ConfigError` for invalid options. A new parent needs a new frame: browsers reload a frame that moves.
 *
 * Source: docs/guides/mcp-apps.md
 *
 * @example
 * const server = tools.app(part.toolName)
 * if (server) mountMcpApp(card, { server, resource: await server.read(), call: part, host: { approve: askUser } })
 */
export function mountMcpApp(parent: ParentElement, options: McpAppOptions): McpAppFrame {
  checkOptions(options, appOptions)
  const { server, resource, call, host = {}, maxHeight = 600, page } = options
  const { title = server.tool.title ?? server.tool.name, context = {} } = options
  const domains = approvedDomains(resource.csp)
  const frame = document.createElement('iframe')
  const posted = (message: MessageEvent) => {
    // Of this frame alone, and of no document with an origin.
    if (message.source !== null && message.source === frame.contentWindow && message.origin === 'null') session.receive(message)
  }
  const session = new AppSession({
    ...{ server, host, domains, maxHeight },
    context: { locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...context },
    post: (message) => frame.contentWindow?.postMessage(message, '*'),
    onSize: (height) => {
      frame.style.height = `${Math.ceil(Math.min(height, maxHeight))}px`
    },
    onEnd: (reason) => {
      removeEventListener('message', posted)
      frame.remove()
      if (reason !== undefined) host.onEnd?.(reason)
    },
  })
  if (call !== undefined) session.show(call)
  addEventListener('message', posted)
  fill(frame, appDocument(resource.html, appPolicy(domains)), page)
  frame.title = title
  parent.append(frame)
  return {
    domains: [...new Set(Object.values(domains).flat())],
    update: (state) => session.show(state),
    setContext: (change) => session.setContext(change),
    close: async () => {
      await within(teardownMs, session.teardown())
      session.end()
    },
  }
}

/** Sets the sandbox, permissions, referrer policy and document before the frame enters the page. */
function fill(frame: HTMLIFrameElement, html: string, page: string | URL | undefined): void {
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.setAttribute('allow', '')
  frame.referrerPolicy = 'no-referrer'
  frame.style.cssText = 'display: block; width: 100%; border: 0'
  if (page === undefined) frame.srcdoc = html
  else {
    frame.src = String(page)
    frame.addEventListener('load', () => frame.contentWindow?.postMessage({ html }, '*'), { once: true })
  }
}

function within(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
