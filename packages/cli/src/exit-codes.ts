/** What the exit code of every subcommand means. */
export const EXIT = {
  ok: 0,
  /** A case failed, nothing passed, or something unforeseen happened. */
  failed: 1,
  usage: 2,
  /** The backend cannot be used here, so nothing was run. */
  unavailable: 3,
  /** 128 + SIGINT, as shells count. */
  interrupted: 130,
} as const;

/** The table of exit codes that every `--help` ends with. */
export const EXIT_CODE_HELP: string = `
Exit codes:
  0    everything passed
  1    a case failed, nothing passed, or an unforeseen error
  2    wrong arguments
  3    the backend cannot be used on this machine, nothing was run
  130  interrupted with Ctrl-C`;
