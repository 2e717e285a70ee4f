/** The agent's path if the server hosts this page for it, as `phi serve` does. */
export const endpoint: string | undefined = document.querySelector<HTMLMetaElement>('meta[name="phi-endpoint"]')?.content
