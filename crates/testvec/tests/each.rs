//! A test for each discipline of the registry.

/// Makes of a check of one [`aqm::Entry`] a module of tests, one named after each discipline.
macro_rules! each_discipline {
    ($check:ident) => {
        each_discipline! { $check:
            afd ared avq blue bred cake choke cobalt codel csfq curvy_red dcn dctcp_step
            droptail drr dsred dualpi2 feng_red fq_codel fq_pie fred gred green hhf
            nlred pi pi2 pie red red_pd rem rio rio_ps sfb sfq sred wred docsis_lld
        }
    };
    ($check:ident: $($name:ident)*) => {
        mod $check {
            $(#[test]
            fn $name() {
                super::$check(aqm::find(stringify!($name)).expect("a discipline"));
            })*

            #[test]
            fn every_discipline_is_called() {
                let known: Vec<_> = aqm::ALGORITHMS.iter().map(|e| e.about.name).collect();
                let mut requested = [$(stringify!($name)),*];
                assert!(known.iter().all(|name| requested.contains(name)), "list it in each.rs");
                requested.sort_unstable();
                assert_eq!(requested.len(), known.len());
            }
        }
    };
}
