import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bashTool, nodeTools } from '../../../../adapters/node/index.ts'
import { openControlGroup } from '../../../../adapters/node/process/control-group.ts'
import { processesWith } from '../../../../adapters/node/process/kill.ts'
import { failureOf, present, temporaryRoot, toolContext } from '../temporary.ts'
import { hasBubblewrap, shell, shellElsewhere, succeeded } from './shell.ts'

const hasPerl = present('perl', '-MSocket', '-e', '1')
const hasGroups = hasBubblewrap && bashTool({ root: temporaryRoot().root }).confinement.memory === 'controlGroup'
if (!hasGroups) console.warn('no control groups here: the tests that need them are SKIPPED')

const running = (argument: string) => processesWith('cmdline', (args) => args.includes(argument)).length

describe.skipIf(!hasBubblewrap)('other processes and sockets in the sandbox', () => {
  it.skipIf(!hasPerl)('reaches no Unix socket in the workspace through a stream, datagram or pair', async () => {
    const { root, run } = shell()
    let visitors = 0
    const server = createServer((socket) => {
      visitors++
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(join(root, 'host.sock'), resolve))
    const address = 'pack_sockaddr_un("host.sock")'
    const attempts = ['SOCK_STREAM', 'SOCK_DGRAM', 'SOCK_SEQPACKET'].flatMap((type) => [
      `perl -MSocket -e 'socket(my $s, AF_UNIX, ${type}, 0) or die $!; connect($s, ${address}) or die $!'`,
      `perl -MSocket -e 'socketpair(my $s, my $t, AF_UNIX, ${type}, 0) or die $!; connect($s, ${address}) or die $!'`,
      `perl -MSocket -e 'socketpair(my $s, my $t, AF_UNIX, ${type}, 0) or die $!; send($s, "x", 0, ${address}) or die $!'`,
    ])
    try {
      expect(
        await succeeded(
          run,
          attempts.filter((attempt) => !/SEQ.*send/.test(attempt)),
        ),
      ).toEqual([])
      expect(visitors).toBe(0)
      expect(await run(`perl -MSocket -e 'socketpair(my $s, my $t, AF_UNIX, SOCK_DGRAM, 0) or die $!'`)).toContain(
        'Operation not permitted',
      )
      expect(await run(`perl -MSocket -e 'socketpair(my $s, my $t, AF_UNIX, SOCK_STREAM, 0) or die $!; print "pairs work"'`)).toContain(
        'pairs',
      )
    } finally {
      server.close()
    }
  })

  it.skipIf(!hasPerl || process.arch !== 'x64')('blocks system calls into other processes, namespaces and the kernel', async () => {
    const { run } = shell()
    const calls = [
      ...[101, 310, 311, 438, 312], // ptrace, process_vm_readv, _writev, pidfd_getfd, kcmp
      ...[272, 308, 165, 166, 155, 428, 429, 430, 431, 432, 433, 442], // unshare, setns, mounts
      ...[303, 304, 300, 250, 248, 249], // file handles, fanotify, keyrings
      ...[321, 298, 323, 425, 426, 427], // bpf, perf, userfaultfd, io_uring
      ...[175, 313, 176, 246, 320, 169, 167, 168, 163, 179, 103, 227, 164, 159, 172, 173, 154], // what only a system's administrator does
    ]
    const codes = calls.map((call) => `$! = 0; syscall(${call}, 0, 0, 0, 0, 0); print "${call}:", $!+0, " ";`).join(' ')
    expect(await run(`perl -e '${codes}'`)).toBe(`Exit code: 0\n${calls.map((call) => `${call}:1 `).join('')}`)
  })

  it('blocks signals to outside processes and kills everything a command started', async () => {
    const { run } = shell()
    const commands = [`kill -9 ${process.pid}`, `kill -9 ${process.ppid}`, 'kill -9 -1; true', 'kill -STOP 1']
    for (const command of commands) await run(command)
    await run('(setsid nohup bash -c "trap : TERM HUP INT; exec -a survivor sleep 310.25" >/dev/null 2>&1 &) ; disown -a; exit 0')
    expect(running('310.25')).toBe(0)
  })

  it('kills the command when its parent process ends for any reason', async () => {
    const { root } = temporaryRoot()
    const host = shellElsewhere(root, 'touch ready; sleep 311.25')
    const ended = new Promise((resolve) => host.once('exit', resolve))
    while (!existsSync(join(root, 'ready')) || running('311.25') === 0) await new Promise(setImmediate)
    host.kill('SIGKILL')
    await ended
    while (running('311.25') > 0) await new Promise(setImmediate)
  })

  it('blocks FIFOs and devices in every tool that opens a path', async () => {
    const { root } = temporaryRoot()
    execFileSync('mkfifo', [join(root, 'pipe'), join(root, 'pipe.png')])
    writeFileSync(join(root, 'a.txt'), 'needle')
    const tools = nodeTools({ root })
    const call = (name: string, args: Record<string, string>) =>
      failureOf(Promise.resolve(tools.find((tool) => tool.name === name)?.execute(args, toolContext(AbortSignal.timeout(5000)))))
    for (const path of ['pipe', 'pipe.png']) {
      expect(await call('read_file', { path })).toMatch(/^failed: .*not a regular file/)
      expect(await call('write_file', { path, content: 'x' })).toMatch(/^failed: .*not a regular file/)
      expect(await call('edit_file', { path, old_text: 'x', new_text: 'y' })).toMatch(/^failed: .*not a regular file/)
      expect(await call('search', { pattern: 'x', path })).toMatch(/^failed: .*not a regular file/)
      expect(await call('list_files', { path })).toMatch(/^failed/)
    }
    expect(await call('search', { pattern: 'needle' })).toBe('fulfilled')
    expect(statSync(join(root, 'pipe')).isFIFO()).toBe(true)
  })
})

describe.skipIf(!hasBubblewrap)('resource limits of the sandbox', () => {
  const hog = (processes: number) =>
    `for i in $(seq ${processes}); do perl -e 'my @x = map { "x" x 1e6 } 1..100; sleep 30' & done; wait; echo survived`

  it.skipIf(!hasGroups || !hasPerl)('limits the memory of all processes together', async () => {
    const { run } = shell({ limits: { memoryBytes: 256 * 2 ** 20 }, timeoutMs: 40_000 })
    expect(await run('perl -e \'my @x = map { "x" x 1e6 } 1..100\'; echo fine')).toContain('fine')
    const output = await run(`${hog(8).replace('sleep 30', 'sleep 2')}`)
    expect(output).toContain('Killed')
  })

  it.skipIf(!hasGroups)('defaults to half of the memory, at most 8 GiB, and 4,096 tasks', async () => {
    const probe = openControlGroup({ memory: 2 ** 30, tasks: 10 })
    const places = probe?.entrances.map((entrance) => join(entrance, '../..')) ?? []
    await probe?.remove()
    const { root, run } = shell()
    const waiting = run('touch ready; until [ -e go ]; do :; done')
    while (!existsSync(join(root, 'ready'))) await new Promise(setImmediate)
    const read = (file: string) =>
      places.flatMap((place) =>
        readdirSync(place)
          .filter((name) => name.startsWith(`phi-core-${process.pid}-`) && existsSync(join(place, name, file)))
          .map((name) => Number(readFileSync(join(place, name, file), 'utf8'))),
      )
    const [tasks, memory] = [read('pids.max'), [...read('memory.max'), ...read('memory.limit_in_bytes')]]
    writeFileSync(join(root, 'go'), '')
    await waiting
    expect(tasks).toEqual([4096])
    // The kernel counts in pages.
    const page = 4096
    expect(memory).toEqual([Math.floor(Math.min(8 * 2 ** 30, totalmem() / 2) / page) * page])
  })

  it.skipIf(!hasGroups)('removes its control group after the command', async () => {
    const probe = openControlGroup({ memory: 2 ** 30, tasks: 10 })
    const places = probe?.entrances.map((entrance) => join(entrance, '../..')) ?? []
    await probe?.remove()
    const { root, run } = shell()
    const stopped = shell({ root, timeoutMs: 300 })
    await Promise.all([run('true'), failureOf(stopped.run('sleep 30')), run('true')])
    for (const place of places) expect(readdirSync(place).filter((name) => name.startsWith(`phi-core-${process.pid}-`))).toEqual([])
  })

  it('monitors disk use and kills a command that fills the disk', async () => {
    const { root, run } = shell({ limits: { diskBytes: 64 * 2 ** 20 }, timeoutMs: 40_000 })
    const fill = 'for i in $(seq 60); do head -c 8M /dev/zero > "f$i"; sleep 0.05; done; echo survived'
    expect(await failureOf(run(fill))).toMatch(/^failed: Command wrote more than 64 MiB to disk/)
    expect(existsSync(join(root, 'f60'))).toBe(false)
  })

  it("closes the parent's file descriptors before it runs a command", async () => {
    const { root, outside } = temporaryRoot()
    writeFileSync(join(outside, 'secret'), 'canary')
    const adapter = new URL('../../../../adapters/node/index.ts', import.meta.url).href
    const program = `
      import { bashTool } from ${JSON.stringify(adapter)}
      const context = { signal: new AbortController().signal, update: () => undefined }
      const command = 'cat <&20; cat <&251; echo planted >&21; ls /proc/self/fd | tr "\\n" " "'
      const { content } = await bashTool({ root: ${JSON.stringify(root)} }).execute({ command }, context)
      console.log(content[0].text)`
    const script = `exec 20<"$1/secret" 251<"$1/secret" 21>"$1/written"; exec "$2" --input-type=module -e "$3"`
    const said = execFileSync('bash', ['-c', script, 'bash', outside, process.execPath, program], { encoding: 'utf8' })
    expect(said).not.toContain('canary')
    expect(readFileSync(join(outside, 'written'), 'utf8')).toBe('')
    expect(said).toMatch(/0 1 2 3\s/)
  })

  it('removes setuid and setgid bits from files', async () => {
    const { root, run } = shell()
    await run('cp /bin/true t; chmod 4755 t; chmod u+s,g+s t; mkdir -m 2775 d; install -m 6755 /bin/true u; touch v; chmod 2755 v')
    expect(readdirSync(root).filter((name) => (statSync(join(root, name)).mode & 0o6000) !== 0)).toEqual([])
  })

  it('describes which limits are available and which are not', () => {
    const { root } = temporaryRoot()
    const inside = bashTool({ root }).confinement
    expect(inside).toMatchObject({ sandbox: 'bubblewrap', processes: 'watched', disk: 'watched' })
    expect(inside.warnings.filter((warning) => warning.includes('control group'))).toHaveLength(inside.memory === 'controlGroup' ? 0 : 1)
    expect(inside.warnings.filter((warning) => warning.includes('process is root'))).toHaveLength(process.getuid?.() === 0 ? 1 : 0)
    expect(bashTool({ root, sandbox: 'none' }).confinement).toEqual({
      sandbox: 'none',
      memory: 'unbounded',
      processes: 'unbounded',
      disk: 'unbounded',
      warnings: ['Commands run on the host with all rights of this process.'],
    })
  })

  it('applies the documented resource limits', async () => {
    const { run } = shell()
    expect(await run('ulimit -f; ulimit -d; ulimit -c; ulimit -u; df --output=size -B1 /tmp /dev/shm /run | tail -3')).toMatch(
      /^Exit code: 0\n1048576\n4194304\n0\n1024\n *268435456\n *268435456\n *268435456\n$/,
    )
    for (const limits of [{ memoryBytes: 0 }, { processes: -1 }, { diskBytes: Number.NaN }]) {
      expect(() => shell({ limits })).toThrow(`limits.${Object.keys(limits)[0]}`)
    }
    if (!hasGroups) return
    const group = openControlGroup({ memory: 2 ** 28, tasks: 77 })
    const read = (file: string) =>
      (group?.entrances ?? []).flatMap((entrance) => {
        const path = join(entrance, '..', file)
        return existsSync(path) ? [readFileSync(path, 'utf8').trim()] : []
      })
    expect(read('pids.max')).toEqual(['77'])
    expect([...read('memory.max'), ...read('memory.limit_in_bytes')]).toEqual([String(2 ** 28)])
    await group?.remove()
  })
})
