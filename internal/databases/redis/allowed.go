package redis

import "github.com/tarelab/tare/internal/base/allow"

// allowed are the settings of redis-server and valkey-server that an experiment may set:
// numbers, switches and words. None names a file, a directory, a module, an address, a
// user or a program.
var allowed = allow.List{
	Program: "the server", Dashed: true, Valued: true,
	Names: allow.Words(`
		active_defrag_cycle_max active_defrag_cycle_min active_defrag_ignore_bytes active_defrag_max_scan_fields
		active_defrag_threshold_lower active_defrag_threshold_upper activedefrag active_expire_effort activerehashing
		aof_load_truncated aof_rewrite_incremental_fsync aof_timestamp_enabled aof_use_rdb_preamble
		auto_aof_rewrite_min_size client_query_buffer_limit close_on_oom_slave_shutdown crash_memcheck_enabled
		disable_thp dynamic_hz events_per_io_thread hash_max_listpack_entries hash_max_listpack_value
		hash_max_ziplist_entries hash_max_ziplist_value hll_sparse_max_bytes hz io_threads_always_active
		io_threads_do_reads jemalloc_bg_thread latency_monitor_threshold latency_tracking
		lazyfree_lazy_eviction lazyfree_lazy_expire lazyfree_lazy_server_del lazyfree_lazy_user_del
		lazyfree_lazy_user_flush lfu_decay_time lfu_log_factor list_compress_depth list_max_listpack_size
		list_max_ziplist_size lookahead max_new_connections_per_cycle maxmemory maxmemory_clients
		maxmemory_eviction_tenacity maxmemory_policy maxmemory_samples min_io_threads_avoid_copy_reply
		min_string_size_avoid_copy_reply no_appendfsync_on_rewrite prefetch_batch_max_size proto_max_bulk_len
		rdb_del_sync_files rdb_key_save_delay rdb_save_incremental_fsync rdbchecksum rdbcompression
		sanitize_dump_payload set_max_intset_entries set_max_listpack_entries set_max_listpack_value
		slowlog_log_slower_than slowlog_max_len stop_writes_on_bgsave_error stream_node_max_bytes
		stream_node_max_entries tcp_backlog tracking_table_max_keys zset_max_listpack_entries
		zset_max_listpack_value zset_max_ziplist_entries zset_max_ziplist_value`),
	Ours: allow.Ours(map[string]string{
		"appendonly": setAppend, "appendfsync": setAppendSync, "save": setSave, "io_threads": setIOThreads,
	}, "bind", "port", "tls_port", "unixsocket", "unixsocketperm", "dir", "daemonize", "supervised", "pidfile", "logfile", "user",
		"requirepass", "databases", "protected_mode", "timeout", "tcp_keepalive", "maxclients", "auto_aof_rewrite_percentage"),
}
